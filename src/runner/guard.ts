import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Ends the process groups it was told of when whoever told it is gone, however
 * that came about: its standard input then ends. A shell is enough for that, and
 * starts in a millisecond; nothing but numbers reaches it.
 */
const WATCH = `
groups=""
while read -r line; do
  case "$line" in
    +*) groups="$groups \${line#+}" ;;
    -*) left=""
        for one in $groups; do [ "$one" = "\${line#-}" ] || left="$left $one"; done
        groups="$left" ;;
  esac
done
[ -z "$groups" ] && exit 0
for one in $groups; do kill -TERM -"$one" 2>/dev/null; done
sleep 2
for one in $groups; do kill -KILL -"$one" 2>/dev/null; done
exit 0
`

/** Sees to it that no agent outlives the runner. */
export class Guard {
  private readonly watch: ChildProcess

  constructor() {
    // In a session of its own, so that what ends the runner's group does not end it.
    this.watch = spawn('sh', ['-c', WATCH], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
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
    this.watch.stdin!.end()
  }
}
