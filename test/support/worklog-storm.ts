import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repeated } from '../../src/core/keeping.ts'
import { StoreDoor } from '../../src/open.ts'
import { worklog as kind } from '../../src/worklogs/kind.ts'
import { findWorkspace } from '../../src/workspace.ts'
import { HOME } from './cli.ts'
import { scratch } from './scratch.ts'
import { WORKERS } from './worklogs.ts'

const WRITER = join(import.meta.dirname, 'worklog-writer.ts')

const COMPILED = scratch()

export interface Storm {
  readonly processes: number
  /** How many lines each writes, in its own worklog and in the one of all. */
  readonly changes: number
  /** How many are killed; whoever is killed is replaced by one that goes on in the same worklog. */
  readonly kills: number
  /** What the environment says of the store. */
  readonly env: Readonly<Record<string, string>>
}

/** What came of it; every text and list should be empty. */
export interface Aftermath {
  readonly failures: string
  /** Lines that were answered and are not there. */
  readonly lost: string[]
  readonly twice: string[]
  /** Lines that nobody wrote like that. */
  readonly torn: string[]
  readonly unreadable: string[]
  readonly unsound: string[]
  /** What killed processes left, after that was put right. */
  readonly left: string[]
  /** How many lines there are. */
  readonly lines: number
}

/** Processes that write worklogs at once, some of which are killed at any moment. */
export async function worklogStorm({ processes, changes, kills, env }: Storm): Promise<Aftermath> {
  const crew = new Crew(changes, env)
  await (await crew.open()).close()
  warmUp(env)
  await Promise.all(Array.from({ length: processes }, (_, place) => crew.hire(place)))
  crew.begin()
  for (let n = 0; n < kills; n++) {
    await sleep(Math.random() * 60)
    await crew.replaceOne()
  }
  await crew.home()
  return await aftermath(crew)
}

/** Most of a process is its start, and what one has compiled is there for the others once it has ended. */
function warmUp(more: Storm['env']): void {
  const root = scratch()
  const { PATH = '' } = process.env
  execFileSync(process.execPath, [WRITER, root, 'nobody', '0.0', '0', join(root, 'diary')], {
    input: 'go\n',
    env: { PATH, HOME: HOME(), NODE_COMPILE_CACHE: COMPILED, ...more },
  })
}

class Crew {
  readonly root = scratch()
  readonly diaries = scratch()
  failures = ''
  private readonly changes: number
  private readonly env: Storm['env']
  private readonly working: { readonly child: ChildProcess; readonly place: number }[] = []
  private hired = 0

  constructor(changes: number, env: Storm['env']) {
    this.changes = changes
    this.env = env
  }

  async open() {
    const store = this.env['PUNCHLIST_STORE'] ?? 'files'
    return await new StoreDoor(await findWorkspace({ cwd: this.root, root: this.root, store })).store(true)
  }

  /** Resolves when the new one waits for its beginning. */
  async hire(place: number): Promise<ChildProcess> {
    const mark = `${place}.${++this.hired}`
    const args = [WRITER, this.root, `w${place}`, mark, String(this.changes), join(this.diaries, mark)]
    const { PATH = '' } = process.env
    const env = { PATH, HOME: HOME(), NODE_COMPILE_CACHE: COMPILED, ...this.env }
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'], env })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.failures += text))
    // Whoever is killed does not read what it is told.
    child.stdin.on('error', () => {})
    this.working.push({ child, place })
    await once(child.stdout, 'data')
    return child
  }

  begin(): void {
    for (const { child } of this.working) child.stdin!.write('go\n')
  }

  async replaceOne(): Promise<void> {
    const running = this.working.filter(({ child }) => child.exitCode === null && child.signalCode === null)
    const victim = running[Math.floor(Math.random() * running.length)]
    if (!victim) return
    victim.child.kill('SIGKILL')
    const next = await this.hire(victim.place)
    next.stdin!.write('go\n')
  }

  /** Resolves when everybody has ended. */
  async home(): Promise<void> {
    const running = this.working.filter(({ child }) => child.exitCode === null && child.signalCode === null)
    await Promise.all(running.map(({ child }) => once(child, 'close')))
  }
}

async function aftermath(crew: Crew): Promise<Aftermath> {
  const store = await crew.open()
  const items = await store.find(kind, {})
  const texts = await store.texts(
    kind,
    items.map(({ id }) => id),
  )
  const written = items.flatMap(({ id, worker }) => {
    const { body = '' } = texts.get(id) ?? {}
    return body === '' ? [] : body.split('\n').map(line => `${worker} ${line}`)
  })
  const answered = readdirSync(crew.diaries).flatMap(name =>
    readFileSync(join(crew.diaries, name), 'utf8').split('\n').filter(Boolean),
  )
  const present = new Set(written)
  const unsound = (await store.inspect(true)).filter(({ ok }) => !ok).map(({ detail }) => detail)
  const unreadable = (await store.unreadable(kind, {})).map(({ file, message }) => `${file} ${message}`)
  await store.close()
  const folder = join(crew.root, WORKERS)
  return {
    failures: crew.failures,
    lost: answered.filter(line => !present.has(line)),
    twice: repeated(written),
    torn: written.filter(line => !isWhole(line)),
    unreadable,
    unsound,
    left: existsSync(folder) ? readdirSync(folder).filter(name => !/^(?:w\d+|all)\.md$/.test(name)) : [],
    lines: written.length,
  }
}

/** As worklog-writer.ts writes it. */
function isWhole(line: string): boolean {
  const [, number, dots = ''] = /^(?:w\d+|all) - \[x\] \d+\.\d+ (\d+) (\.*)\|$/.exec(line) ?? []
  return number !== undefined && dots.length === Number(number) % 7
}
