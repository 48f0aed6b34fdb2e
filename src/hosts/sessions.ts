import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stateFile } from '../core/state-file.ts'

/** A session as its host's hook announced it. */
interface Announced {
  readonly session: string
  readonly cwd: string
  /** The processes above the hook, the nearest first, up to the host's own. */
  readonly processes: readonly string[]
}

const KEPT_MS = 7 * 24 * 3_600_000

/**
 * Notes which session a host is in, for hosts that do not tell a server that
 * they start. Both descend from the host's own process: whose nearest common
 * ancestor is the nearest belongs together. Kept outside of workspaces: it is
 * about processes of this machine.
 */
export function announce(host: string, session: string, cwd: string): void {
  const folder = sessionsFolder()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, fileOf(host, session))
  const text = JSON.stringify({ session, cwd, processes: ofHost(ancestors()) } satisfies Announced)
  const beside = `${file}.${process.pid}`
  writeFileSync(beside, text, { mode: 0o600 })
  renameSync(beside, file)
  for (const name of readdirSync(folder)) {
    const old = statSync(join(folder, name), { throwIfNoEntry: false })
    if (old && Date.now() - old.mtimeMs > KEPT_MS) rmSync(join(folder, name), { force: true })
  }
}

/** The session is over. */
export function retire(host: string, session: string): void {
  rmSync(join(sessionsFolder(), fileOf(host, session)), { force: true })
}

/** The session whose host also started this process; undefined where none has been announced. */
export function announcedSession(): Pick<Announced, 'session' | 'cwd'> | undefined {
  const above = ancestors().map(({ key }) => key)
  const near = ({ processes }: Announced) => {
    const places = processes.map(key => above.indexOf(key)).filter(place => place !== -1)
    return places.length > 0 ? Math.min(...places) : Number.POSITIVE_INFINITY
  }
  const found = announcements().map(({ at, ...one }) => ({ ...one, at, distance: near(one) }))
  // Of a host that serves several sessions one after the other, the last.
  return found
    .filter(({ distance }) => Number.isFinite(distance))
    .toSorted((a, b) => a.distance - b.distance || b.at - a.at)[0]
}

/** Where a session said that it works. */
export function folderOf(host: string, session: string): string | undefined {
  return read(join(sessionsFolder(), fileOf(host, session)))?.cwd
}

function announcements(): (Announced & { at: number })[] {
  try {
    const folder = sessionsFolder()
    return readdirSync(folder).flatMap(name => {
      const announced = read(join(folder, name))
      return announced ? [{ ...announced, at: statSync(join(folder, name)).mtimeMs }] : []
    })
  } catch {
    return []
  }
}

function read(file: string): Announced | undefined {
  try {
    const { session, cwd, processes } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Announced>
    if (typeof session !== 'string' || typeof cwd !== 'string' || !Array.isArray(processes)) return undefined
    return { session, cwd, processes }
  } catch {
    return undefined
  }
}

function fileOf(host: string, session: string): string {
  return `${host}-${Buffer.from(session).toString('base64url').slice(0, 200)}.json`
}

function sessionsFolder(): string {
  return stateFile('sessions')
}

/**
 * Up to the shell that the host was typed into: what that shell or the terminal
 * starts besides is not the host's. Shells nearer than the host run the hook.
 */
function ofHost(above: readonly Process[]): string[] {
  const host = above.findIndex(({ name }) => !SHELLS.has(name))
  const shell = above.findIndex(({ name }, place) => place > host && SHELLS.has(name))
  return above.slice(0, host === -1 || shell === -1 ? undefined : shell).map(({ key }) => key)
}

const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'busybox', 'zsh', 'fish', 'ksh', 'tcsh', 'csh', 'nu', 'pwsh'])

interface Process {
  /** With the time that it was started at, where that can be known: numbers are given out again. */
  readonly key: string
  readonly name: string
  readonly parent: number
}

/** Process 1 and what stands directly below it are everybody's. */
function ancestors(): Process[] {
  const found: Process[] = []
  for (let id = process.ppid; id > 1 && found.length < 8; id = found.at(-1)!.parent) found.push(processOf(id))
  return found
}

function processOf(id: number): Process {
  try {
    // The second field is the program's name in brackets, which may hold anything.
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8')
    const [open, close] = [stat.indexOf('('), stat.lastIndexOf(')')]
    const fields = stat.slice(close + 2).split(' ')
    return { key: `${id}:${fields[19]}`, name: stat.slice(open + 1, close), parent: Number(fields[1]) }
  } catch {
    return { key: String(id), name: '', parent: 0 }
  }
}
