import { spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { todo } from '../../src/backlog/kind.ts'
import type { Item, Kind } from '../../src/core/kind.ts'
import { open } from '../../src/index.ts'
import { task } from '../../src/queue/kind.ts'
import { acceptQueue } from '../../src/trust/queue-folder.ts'
import { acceptStore } from '../../src/trust/store-file.ts'
import { worklog } from '../../src/worklogs/kind.ts'
import { ANSWER_VERBS } from './answer-verbs.ts'
import { filesOf } from './files.ts'
import { scratch } from './scratch.ts'

const PROGRAM = join(import.meta.dirname, 'answer-verb.ts')
const BUILT = join(import.meta.dirname, '../../dist/index.js')

/** What can go wrong at a call. A call that writes nothing needs no space. */
const FAULTS: Readonly<Record<string, readonly string[]>> = {
  mkdir: ['ENOSPC', 'EIO'],
  rename: ['ENOSPC', 'EIO'],
  link: ['ENOSPC', 'EIO'],
  symlink: ['ENOSPC', 'EIO'],
  unlink: ['EIO'],
  rmdir: ['EIO'],
  openat: ['ENOSPC', 'EMFILE'],
  write: ['ENOSPC', 'EIO'],
  pwrite64: ['ENOSPC', 'EIO'],
  ftruncate: ['EIO'],
  fsync: ['EIO'],
  fdatasync: ['EIO'],
  getdents64: ['EIO'],
}

/** One call of a verb, and what happens to it: it fails, fails from then on, or is the last of its process. */
export interface Strike {
  readonly call: string
  /** Which of these calls of the process it is, counted from 1; `+` at its end for all from there on. */
  readonly when: string
  readonly fault: string
}

/** A workspace in which a verb is struck again and again, and how it stands without it and with it. */
export interface Stage {
  readonly verb: string
  readonly root: string
  readonly before: string
  readonly after: string
  readonly strikes: readonly Strike[]
}

export async function stageOf(verb: string): Promise<Stage> {
  const root = scratch()
  const list = await open({ root, store: 'files', session: 's1', actor: 'tester' })
  await list.plan.create({ items: [{ title: 'makes the store' }] })
  await ANSWER_VERBS[verb]!.before?.(list)
  await list.close()
  const whole = copyOf(root)
  const trace = join(scratch(), 'trace')
  const ran = await traced(whole, verb, ['-o', trace, '-e', `trace=${Object.keys(FAULTS).join()},statx`])
  if (ran.status !== 0 || !ran.told?.answer) throw new Error(`strace is needed for this: ${ran.stderr}${ran.stdout}`)
  return { verb, root, before: await stateOf(copyOf(root)), after: await stateOf(whole), strikes: strikesIn(trace) }
}

/** What is wrong after a verb was struck: nothing, if it was answered and is done, or refused and has left no trace. */
export async function wrongAfter({ verb, root, before, after }: Stage, strike: Strike): Promise<string | undefined> {
  const copy = copyOf(root)
  const ran = await struck(copy, verb, strike)
  const state = await stateOf(copy).catch((error: Error) => `unreadable: ${error.message}`)
  const wrong = judged(ran, state, before, after, ANSWER_VERBS[verb]!.leavesText === true)
  if (wrong === undefined) rmSync(copy, { recursive: true })
  return wrong === undefined ? undefined : `${strike.call} ${strike.when} ${strike.fault}: ${wrong}`
}

/** Does the same, and returns the workspace as it was left. */
export async function struckIn({ verb, root }: Stage, strike: Strike): Promise<string> {
  const copy = copyOf(root)
  await struck(copy, verb, strike)
  return copy
}

async function struck(copy: string, verb: string, { call, when, fault }: Strike): Promise<Ran> {
  const inject = `inject=${call}:${fault}:when=${when}`
  return await traced(copy, verb, ['-o', '/dev/null', '-e', `trace=${call}`, '-e', inject])
}

function judged(
  { status, told, stdout, stderr }: Ran,
  state: string,
  before: string,
  after: string,
  leavesText: boolean,
): string | undefined {
  const stands = state === after ? 'done' : state === before ? 'not done' : 'half done'
  if (!told) {
    const settled = stands !== 'half done' || (leavesText && textless(state) === textless(before))
    if (settled) return status === null || status === 137 || stderr !== '' ? undefined : `ended: ${stdout}`
    return `stopped, and ${stands}:\n${state}`
  }
  // What the runtime loads, or reads for itself, is none of ours.
  if (told.refused?.startsWith('BUG') && !/\/proc\/|node:internal\/modules/.test(told.refused)) return told.refused
  // A worklog that cannot be written is a warning and no refusal.
  const answered = told.answer !== undefined && told.answer.written !== false
  if (answered ? stands === 'done' : stands === 'not done') return undefined
  return `${answered ? 'answered' : `refused (${told.refused ?? 'not written'}: ${told.message})`}, and ${stands}:\n${state}`
}

interface Ran {
  readonly status: number | null
  readonly told?: { answer?: { written?: boolean }; refused?: string; message?: string } | undefined
  readonly stdout: string
  readonly stderr: string
}

async function traced(root: string, verb: string, options: readonly string[]): Promise<Ran> {
  // Only the thread that does it all: the others are the runtime's.
  const child = spawn('strace', ['-qq', ...options, process.execPath, PROGRAM, root, verb, BUILT], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', status => {
      const line = stdout.split('\n').find(one => one.startsWith('{"answer"') || one.startsWith('{"refused"'))
      resolve({ status, told: line === undefined ? undefined : (JSON.parse(line) as Ran['told']), stdout, stderr })
    })
  })
}

/** Every call between the markers, with everything that can go wrong there. Of many writes to the database in a row, some. */
function strikesIn(trace: string): Strike[] {
  const counts = new Map<string, number>()
  const points: { call: string; n: number; makes: boolean }[] = []
  let markers = 0
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    if (line.includes('punchlist-marker')) markers++
    const call = /^(\w+)\(/.exec(line)?.[1]
    if (call === undefined || call === 'statx') continue
    const n = (counts.get(call) ?? 0) + 1
    counts.set(call, n)
    // A file that is only read needs no space.
    if (markers === 1) points.push({ call, n, makes: call !== 'openat' || line.includes('O_CREAT') })
  }
  const inARow = (index: number) =>
    [index - 1, index, index + 1].every(at => points[at]?.call === 'pwrite64') && points[index]!.n % 8 !== 0
  return points
    .filter((_, index) => !inARow(index))
    .flatMap(({ call, n, makes }) => {
      const errors = FAULTS[call]!.filter(error => makes || error !== 'ENOSPC').flatMap(error => {
        const once = { call, when: String(n), fault: `error=${error}` }
        // A disk that is full stays full.
        return error === 'ENOSPC' && call !== 'openat' ? [once, { ...once, when: `${n}+` }] : [once]
      })
      return [...errors, ...(call === 'getdents64' ? [] : [{ call, when: String(n), fault: 'signal=KILL' }])]
    })
}

/** The same workspace once more, as its user's. */
export function copyOf(root: string): string {
  const copy = scratch()
  cpSync(root, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  acceptStore(join(copy, '.punchlist/punchlist.db'))
  if (existsSync(join(copy, 'coordination/.punchlist'))) acceptQueue(join(copy, 'coordination'))
  return copy
}

/** How the lists stand to whoever looks next, without times. */
async function stateOf(root: string): Promise<string> {
  const store = await filesOf(root)
  try {
    // What another command does before it says anything.
    if (existsSync(join(root, 'coordination'))) await store.find(task, {})
    const told: string[] = []
    for (const kind of [task, todo, worklog] as Kind[]) {
      for (const item of await store.find(kind, {})) {
        const texts = (await store.texts(kind, [item.id])).get(item.id) ?? {}
        told.push(withoutTimes(JSON.stringify([kind.name, fieldsOf(item), texts])))
      }
    }
    return told.toSorted().join('\n')
  } finally {
    await store.close()
  }
}

function textless(state: string): string {
  return state.replaceAll(/\{"execution_log\.md":"(?:[^"\\]|\\.)*",?/g, '{')
}

const PASSING = new Set(['revision', 'token', 'leaseUntil', 'identity'])

function fieldsOf(item: Item): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([name, value]) => !PASSING.has(name) && value !== null))
}

function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, 'TIME').replaceAll(/\d{8}T\d{6}/g, 'TIME')
}
