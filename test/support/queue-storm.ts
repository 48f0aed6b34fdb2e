import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Event, open } from '../../src/index.ts'
import { task as kind } from '../../src/queue/kind.ts'
import { HOME } from './cli.ts'
import { scratch } from './scratch.ts'

const WORKER = join(import.meta.dirname, 'queue-storm-worker.ts')
const LEASE_MS = 400

export interface Storm {
  readonly workers: number
  readonly tasks: number
  /** What the environment says of the store. */
  readonly env: Readonly<Record<string, string>>
}

/** What came of it; every list but `lost` should be empty. */
export interface Aftermath {
  /** What the workers complained of. */
  readonly failures: string
  /** Tasks that are not completed. */
  readonly open: string[]
  /** Tasks that did not come to be completed exactly once, by their events. */
  readonly notOnce: string[]
  /** Events that do not follow from the one before. */
  readonly broken: string[]
  /** Completions that were answered with success, and are not the one in the store. */
  readonly denied: string[]
  /** What recover still finds to do. */
  readonly left: string[]
  readonly warnings: string[]
  /** How many were answered with success, and how many were told that they had lost it. */
  readonly done: number
  readonly lost: number
}

/** Workers that are killed and frozen at random drain a queue; whoever is killed is replaced. */
export async function storm({ workers: count, tasks, env }: Storm): Promise<Aftermath> {
  const root = scratch()
  const diaries = scratch()
  const store = env['PUNCHLIST_STORE']
  const list = await open({ root, actor: 'storm', ...(store ? { store } : {}) })
  for (let n = 0; n < tasks; n += 500) await list.queue.add({ items: itemsOf(Math.min(500, tasks - n)) })
  await list.queue.add({ parent: 'req_0001', items: itemsOf(5) })
  const crew = new Crew(root, diaries, env)
  for (let n = 0; n < count; n++) crew.hire()
  const unfinished = async () => {
    const { to_execute = 0, in_progress = 0 } = await list.store.count(kind, {})
    return to_execute + in_progress
  }
  for (let round = 1; (await unfinished()) > 0; round++) {
    if (round % 3 === 0) crew.replaceOne()
    else await crew.freezeOne(50 + Math.random() * LEASE_MS * 2)
    await sleep(20)
  }
  await crew.home()
  const { recovered } = await list.queue.recover()
  const all = (await list.queue.list({ all: true })).tasks
  const events = await list.events()
  const said = readdirSync(diaries).flatMap(name =>
    readFileSync(join(diaries, name), 'utf8').split('\n').filter(Boolean),
  )
  const done = said.filter(line => line.startsWith('done'))
  const standing = new Map(all.map(({ id, token, owner, state }) => [id, `done ${id} ${token} ${owner} ${state}`]))
  const { warnings } = await list.queue.list()
  await list.close()
  return {
    failures: crew.failures,
    open: all.filter(({ state }) => state !== 'completed').map(({ id, state }) => `${id} ${state}`),
    notOnce: all
      .map(
        ({ id }) =>
          `${id} ${events.filter(event => event.id === id && event.to === 'completed' && event.from !== event.to).length}`,
      )
      .filter(line => !line.endsWith(' 1')),
    broken: brokenIn(events),
    denied: [
      ...done.flatMap(line => deniedBy(line, standing.get(line.split(' ')[1]!) ?? 'nothing', events)),
      ...repeatedIn(done),
    ],
    left: [...recovered.map(({ id, what }) => `${id}: ${what}`), ...leftIn(root)],
    warnings: warnings.map(({ file, message }) => `${file} ${message}`),
    done: done.length,
    lost: said.length - done.length,
  }
}

/** Every seventh waits for the one before. */
function itemsOf(count: number) {
  return Array.from({ length: count }, (_, n) => ({
    title: `task ${n + 1}`,
    description: 'Any.',
    expect: 'It is done.',
    dependsOn: n % 7 === 6 ? [`#${n}`] : [],
  }))
}

class Crew {
  private readonly working: ChildProcess[] = []
  private readonly start: () => ChildProcess
  private hired = 0
  failures = ''

  constructor(root: string, diaries: string, env: Readonly<Record<string, string>>) {
    this.start = () => {
      const name = `w${++this.hired}`
      const args = [WORKER, root, name, String(LEASE_MS), join(diaries, name)]
      const { PATH = '' } = process.env
      return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH, HOME: HOME(), ...env } })
    }
  }

  hire(): void {
    const child = this.start()
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.failures += text))
    this.working.push(child)
  }

  replaceOne(): void {
    const victim = this.anyone()
    victim.kill('SIGKILL')
    this.working.splice(this.working.indexOf(victim), 1)
    this.hire()
  }

  async freezeOne(ms: number): Promise<void> {
    const victim = this.anyone()
    victim.kill('SIGSTOP')
    await sleep(ms)
    victim.kill('SIGCONT')
  }

  /** Resolves when everybody has ended. */
  async home(): Promise<void> {
    const running = this.working.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    await Promise.all(running.map(child => new Promise(done => child.on('close', done))))
  }

  private anyone(): ChildProcess {
    return this.working[Math.floor(Math.random() * this.working.length)]!
  }
}

/** A completion that is not the one in the store, with everything that happened to its task. */
function deniedBy(line: string, standing: string, events: readonly Event[]): string[] {
  const [, id] = line.split(' ')
  const happened = events
    .filter(event => event.id === id)
    .map(({ to, by, token, why }) => `${to} ${token} ${by} ${why}`)
  return line === standing ? [] : [`${line}; there: ${standing}; ${happened.join(', ')}`]
}

function brokenIn(events: readonly Event[]): string[] {
  const last = new Map<string, string | null>()
  return events.flatMap(({ id, from, to, seq }) => {
    const before = last.get(id) ?? null
    last.set(id, to)
    return from === before ? [] : [`${seq}: ${id} from ${from}, but it was ${before}`]
  })
}

function repeatedIn(lines: readonly string[]): string[] {
  const ids = lines.map(line => line.split(' ')[1]!)
  return ids.filter((id, index) => ids.indexOf(id) !== index)
}

/** What lies in the folders of a queue of directories that should not, once everything is completed. */
function leftIn(root: string): string[] {
  const top = join(root, 'coordination')
  const namesIn = (folder: string) => (existsSync(join(top, folder)) ? readdirSync(join(top, folder)) : [])
  const folders = [
    'staged',
    'to_execute',
    'in_progress',
    'error',
    '.punchlist/private',
    '.punchlist/reports',
    '.punchlist/new',
  ]
  const flags = namesIn('completed').flatMap(name => {
    const files = namesIn(`completed/${name}`)
    const of = (end: string) => files.filter(file => file.endsWith(end)).length
    return of('_started') === 1 && of('_completed') === 1 ? [] : [`${name}: ${files.join(' ')}`]
  })
  return [...folders.flatMap(folder => namesIn(folder).map(name => `${folder}/${name}`)), ...flags]
}
