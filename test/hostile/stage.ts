import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Listener } from './listener.ts'

/** Whose files these are where the tests run as root: somebody else's, and the user's own. */
export const STRANGER = 65_534
export const USER = 61_234

const QUIETLY = { throwIfNoEntry: false } as const

export const SECRET = 'pg-secret-of-the-user'

/** Everything of one prepared folder: the folder, and what lies around it that must stay as it is. */
export class Stage {
  readonly top: string
  /** The folder that somebody else has prepared. */
  readonly root: string
  /** Where the user stands: the root, or a folder below it. */
  cwd: string
  /** Files of the user's outside of the folder. */
  readonly victim: string
  readonly home: string
  /** Made by every planted program. */
  readonly marker: string
  readonly shims: string
  readonly log: string
  readonly listener: Listener
  /** Whether the program runs as a user of its own, and not as the tester. */
  apart = false
  private lying: ReadonlyMap<string, string> = new Map()

  private constructor(top: string, listener: Listener) {
    this.top = top
    this.listener = listener
    this.root = join(top, 'project')
    this.cwd = this.root
    this.victim = join(top, 'victim')
    this.home = join(top, 'home')
    this.marker = join(top, 'marker')
    this.shims = join(top, 'shims')
    this.log = join(top, 'started')
  }

  static async set(top: string): Promise<Stage> {
    const stage = new Stage(top, await Listener.open())
    for (const folder of [top, stage.root, stage.victim, stage.home, stage.shims])
      mkdirSync(folder, { recursive: true })
    chmodSync(top, 0o755)
    write(join(stage.victim, 'precious'), 'precious\n')
    write(join(stage.victim, 'folder/a.txt'), 'a\n')
    write(join(stage.victim, 'folder/b.json'), '{"b":1}\n')
    write(join(stage.home, '.pgpass'), `*:*:*:*:${SECRET}\n`, 0o600)
    write(join(stage.home, '.pg_service.conf'), `[hostile]\npassword=${SECRET}\nuser=ada\n`)
    write(join(stage.home, '.ssh/id'), 'key\n')
    write(join(stage.home, '.bashrc'), '# mine\n')
    writeFileSync(stage.log, '')
    chmodSync(stage.log, 0o666)
    shim(stage)
    return stage
  }

  /** A program of the attacker's, in the folder. */
  get evil(): string {
    return join(this.root, 'evil.sh')
  }

  env(): Record<string, string> {
    return {
      PATH: this.shims,
      HOME: this.home,
      USER: 'tester',
      PGPASSWORD: SECRET,
      PGSERVICE: 'hostile',
      GIT_CONFIG_NOSYSTEM: '1',
    }
  }

  /** Gives the user what is the user's, where the program does not run as the tester. */
  handOver(): void {
    if (!this.apart) return
    own(this.home, USER)
    own(this.victim, USER)
    chownSync(this.top, USER, USER)
  }

  /** Remembers how everything lies, for `restore`. */
  keep(): void {
    execFileSync('cp', ['-a', this.top, `${this.top}.kept`])
    this.lying = snapshot(this.top)
  }

  /** Puts everything back. A file stays the same file, as the user's database is known by what the disk says of it. */
  restore(): void {
    const now = snapshot(this.top)
    const changed = [...new Set([...this.lying.keys(), ...now.keys()])].filter(
      path => this.lying.get(path) !== now.get(path),
    )
    if (changed.length === 0) return
    for (const path of changed.toSorted()) {
      const [place, kept] = [join(this.top, path), join(`${this.top}.kept`, path)]
      const [is, was] = [lstatSync(place, QUIETLY), lstatSync(kept, QUIETLY)]
      if (is?.isDirectory() && was?.isDirectory()) continue
      if (is?.isFile() && was?.isFile()) {
        writeFileSync(place, readFileSync(kept))
        chmodSync(place, was.mode)
        continue
      }
      if (is) rmSync(place, { recursive: true })
      if (was) execFileSync('cp', ['-a', kept, place])
    }
    this.lying = snapshot(this.top)
  }

  async strike(): Promise<void> {
    await this.listener.close()
  }
}

/** Writes a file with the folders above it. */
export function write(path: string, text: string | Uint8Array, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  if (mode !== undefined) chmodSync(path, mode)
}

/** A link that leads from one place of the stage to another wherever the stage lies. */
export function link(from: string, to: string): void {
  mkdirSync(dirname(from), { recursive: true })
  symlinkSync(relative(dirname(from), to), from)
}

export function own(path: string, uid: number): void {
  execFileSync('chown', ['-R', '-h', `${uid}:${uid}`, path])
}

/** Programs that a command may look for: each writes down that it was started, and only git and the shell do something. */
const PASSED_ON: Readonly<Record<string, string>> = { git: '/usr/bin/git', sh: '/bin/sh', true: '/bin/true' }
const WRITTEN_DOWN =
  'bash env node npm npx touch cat ps ssh curl make python3 rg claude codex opencode gemini qwen copilot kimi pi punchlist'.split(
    ' ',
  )

function shim({ shims, log }: Stage): void {
  for (const name of [...Object.keys(PASSED_ON), ...WRITTEN_DOWN]) {
    const then = PASSED_ON[name] ? `exec ${PASSED_ON[name]} "$@"` : 'exit 0'
    write(join(shims, name), `#!/bin/sh\nprintf '%s\\036' "${name} $*" >> '${log}'\n${then}\n`, 0o755)
  }
}

/** What lies below a folder, by path: type, permissions, size, time of change and content; `without` is left out. */
export function snapshot(top: string, without: readonly string[] = []): Map<string, string> {
  const seen = new Map<string, string>()
  const visit = (path: string): void => {
    if (without.includes(path)) return
    const at = lstatSync(path)
    const common = `${at.mode.toString(8)} ${at.uid} ${at.size} ${at.mtimeMs}`
    const name = relative(top, path)
    if (at.isSymbolicLink()) seen.set(name, `${common} -> ${readlinkSync(path)}`)
    else if (at.isFile()) seen.set(name, `${common} ${readFileSync(path, 'latin1')}`)
    else if (!at.isDirectory()) seen.set(name, common)
    else {
      // A folder's size and time change with what is left out, too; what is in it tells.
      seen.set(name, without.some(one => dirname(one) === path) ? at.mode.toString(8) : common)
      for (const entry of readdirSync(path)) visit(join(path, entry))
    }
  }
  visit(top)
  return seen
}

/** The paths in which two snapshots differ, with what happened to each. */
export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(path => {
    const [was, is] = [before.get(path), after.get(path)]
    if (was === is) return []
    return [`${path} ${was === undefined ? 'was made' : is === undefined ? 'was removed' : 'was changed'}`]
  })
}
