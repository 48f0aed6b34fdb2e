import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { punchlist } from '../support/cli.ts'

/** What a verb is asked for: the same through every door. */
export interface Request {
  readonly room: 'plan' | 'backlog' | 'queue' | 'worklog'
  readonly verb: string
  readonly input: Readonly<Record<string, unknown>>
  readonly scope: { readonly actor: string; readonly session?: string; readonly conversationId?: string }
}

export interface Answer {
  readonly ok?: Readonly<Record<string, unknown>>
  readonly code?: string
  readonly message?: string
}

const VERBS = join(import.meta.dirname, '../support/walk-verbs.ts')

/** A process that stays open and carries out verbs; a new one is started where it was killed. */
export class Worker {
  readonly #root: string
  #child: ChildProcess | undefined
  #lines: AsyncIterator<string> | undefined
  #reader: Interface | undefined

  constructor(root: string) {
    this.#root = root
  }

  async ask(request: Request): Promise<Answer> {
    await this.#ready()
    this.#child!.stdin!.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.#lines!.next()
    if (done) throw new Error(`the process ended at ${JSON.stringify(request)}`)
    return JSON.parse(value) as Answer
  }

  /** Asks, and kills the process so many milliseconds later, whatever it has done by then. */
  async askAndKill(request: Request, afterMs: number): Promise<void> {
    await this.#ready()
    const child = this.#child!
    child.stdin!.write(`${JSON.stringify(request)}\n`)
    if (afterMs > 0) await sleep(afterMs)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    this.#child = undefined
  }

  async close(): Promise<void> {
    const child = this.#child
    if (!child) return
    const gone = once(child, 'exit')
    child.stdin!.end()
    await gone
  }

  async #ready(): Promise<void> {
    if (this.#child) return
    const child = spawn(process.execPath, [VERBS, this.#root], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child = child
    child.stdin.on('error', () => {})
    this.#reader = createInterface({ input: child.stdout })
    this.#lines = this.#reader[Symbol.asyncIterator]()
    await this.#lines.next()
  }
}

/** Which fields are words of their own on the command line, in their order. */
const POSITIONAL: Readonly<Record<string, readonly string[]>> = {
  'plan start': ['todoId'],
  'plan complete': ['todoId', 'outcome'],
  'plan block': ['todoId', 'needs'],
  'plan unblock': ['todoId'],
  'plan return': ['todoId', 'note'],
  'plan turn': ['turnId'],
  'queue reply': ['id', 'text'],
  'worklog open': ['name'],
  'worklog task': ['name', 'task', 'subject'],
  'worklog check': ['name', 'task', 'subtask'],
  'worklog decide': ['name', 'task', 'text'],
  'worklog complete': ['name', 'task'],
  'worklog fail': ['name', 'task'],
  'worklog close': ['name'],
}

/** The same request as a person types it; undefined where it is one that programs alone make. */
function typed({ room, verb, input, scope }: Request): string[] | undefined {
  const { items, ...rest } = input as { items?: Record<string, unknown>[] }
  if (items && items.length > 1) return undefined
  const command = room === 'plan' && verb === 'create' ? 'plan add' : `${room} ${verb}`
  const { title, ...single } = items?.[0] ?? {}
  const fields: Record<string, unknown> = { ...rest, ...single }
  const words = title === undefined ? [] : [title as string]
  for (const name of POSITIONAL[command] ?? ['id']) {
    if (fields[name] !== undefined) words.push(`${fields[name] as string | number}`)
    delete fields[name]
  }
  const flags = Object.entries(fields).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
    if (value === undefined || value === false) return []
    if (value === true) return [flag]
    return (Array.isArray(value) ? value : [value]).flatMap(one => [flag, String(one)])
  })
  const { actor, session, conversationId } = scope
  const where = [
    ...(session ? ['--session', session] : []),
    ...(conversationId ? ['--conversation', conversationId] : []),
  ]
  return ['--json', ...command.split(' '), ...words, ...flags, ...where, '--actor', actor]
}

/** Asks through the real command line; undefined where the request cannot be typed. */
export async function askTyped(root: string, request: Request): Promise<Answer | undefined> {
  const args = typed(request)
  if (!args) return undefined
  const { status, stdout, stderr } = await punchlist(args, { cwd: root })
  if (status === 0) return { ok: JSON.parse(stdout) as Record<string, unknown> }
  try {
    return (JSON.parse(stderr) as { error: Answer }).error
  } catch {
    return { code: 'crash', message: `exit ${status}: ${stdout}${stderr}` }
  }
}
