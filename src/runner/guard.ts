import { type ChildProcess, spawn } from 'node:child_process'
import { ownMark, RUN_MARK } from './marked.ts'

/**
 * Ends the process groups it was told of when whoever told it is gone, however
 * that came about: its standard input then ends without a full stop. What has
 * left its group is known by its mark, where the system tells. A shell is enough
 * for that, and starts in a millisecond; nothing but numbers reaches it.
 */
const WATCH = `
groups=""
while read -r line; do
  case "$line" in
    .) exit 0 ;;
    +*) groups="$groups \${line#+}" ;;
    -*) left=""
        for one in $groups; do [ "$one" = "\${line#-}" ] || left="$left $one"; done
        groups="$left" ;;
  esac
done
for one in $groups; do kill -TERM -"$one" 2>/dev/null; done
[ -z "$groups" ] || sleep 2
for one in $groups; do kill -KILL -"$one" 2>/dev/null; done
for file in /proc/[0-9]*/environ; do
  grep -aqzF "$1:" "$file" 2>/dev/null || continue
  pid="\${file#/proc/}"
  kill -KILL "\${pid%/environ}" 2>/dev/null
done
exit 0
`

/** Sees to it that no agent outlives the runner. */
export class Guard {
  private readonly watch: ChildProcess

  constructor() {
    // In a session of its own, so that what ends the runner's group does not end it.
    const args = ['-c', WATCH, 'punchlist-guard', `${RUN_MARK}=${ownMark()}`]
    // Without the mark of a run that we are an agent's of: whoever ends us by that must not end it.
    const env = { ...process.env, [RUN_MARK]: undefined }
    this.watch = spawn('sh', args, { detached: true, env, stdio: ['pipe', 'ignore', 'ignore'] })
    this.watch.unref()
    this.watch.on('error', () => undefined)
    this.watch.stdin!.on('error', () => undefined)
  }

  over(group: number): void {
    this.watch.stdin!.write(`+${group}\n`)
  }

  done(group: number): void {
    this.watch.stdin!.write(`-${group}\n`)
  }

  end(): void {
    this.watch.stdin!.end('.\n')
  }
}
