import { Problem } from '../core/problem.ts'
import { isTaskId } from '../queue/names.ts'
import { type Entry, entriesOf, type Outcome, runsIn } from './diary.ts'
import { isGoingOn } from './going-on.ts'
import type { RunState } from './state.ts'

/** What became of a task in a run; `cut_off` where the run was killed over it. */
type Became = Outcome | 'cut_off' | 'going_on'

export interface TaskReport {
  readonly task: string
  readonly title: string
  /** Who had it last. */
  readonly worker: string
  readonly outcome: Became
  readonly text: string
  /** The numbers of its attempts in this run: each has left a file of what its agent printed. */
  readonly attempts: readonly number[]
  /** How often its agent was sent on because its plan was open. */
  readonly sentOn: number
  readonly wards: { readonly passed: number; readonly failed: number }
  readonly ms: number
  readonly costUsd: number | null
}

export interface RunReport {
  readonly run: string
  readonly how: 'ended' | 'failed' | 'killed' | 'going_on'
  /** Why it could not go on. */
  readonly error: string | null
  readonly name: string
  readonly agent: string
  readonly workers: number
  readonly startedAt: string
  /** When it was last heard of: its end, where it has ended. */
  readonly lastAt: string
  readonly ms: number
  readonly counts: Readonly<Record<string, number>>
  readonly costUsd: number | null
  /** In the order in which they were begun. */
  readonly tasks: readonly TaskReport[]
  /** The ids of those that failed, and of those that took longest. */
  readonly failed: readonly string[]
  readonly slowest: readonly string[]
}

const HOW_MANY_SLOWEST = 5

/** What a run did, from its own account; the newest one where none is named. */
export function reportOn(state: RunState, wanted?: string): RunReport {
  const run = chosen(state, wanted)
  const entries = entriesOf(state, run).filter(isSound)
  const first = entries.find(entry => entry.what === 'run_started')
  const last = entries.at(-1)
  if (!first || !last) {
    throw new Problem('unreadable_file', `The account of ${run} has no beginning`, 'Ask for another run: see --help.', {
      run,
    })
  }
  const end = entries.find(entry => entry.what === 'run_ended')
  const error = end?.error ?? null
  const how = error !== null ? 'failed' : end ? 'ended' : isGoingOn(state, run) ? 'going_on' : 'killed'
  const tasks = tasksIn(entries, how === 'going_on' ? 'going_on' : 'cut_off', last.at)
  return {
    run,
    how,
    error,
    name: first.name,
    agent: first.agent,
    workers: first.workers,
    startedAt: first.at,
    lastAt: last.at,
    ms: Math.max(0, Date.parse(last.at) - Date.parse(first.at)),
    counts: countsOf(tasks),
    costUsd: tasks.reduce<number | null>((sum, { costUsd }) => added(sum, costUsd), null),
    tasks,
    failed: tasks.filter(({ outcome }) => outcome === 'failed').map(({ task }) => task),
    slowest: tasks
      .toSorted((one, other) => other.ms - one.ms)
      .slice(0, HOW_MANY_SLOWEST)
      .map(({ task }) => task),
  }
}

/** Only a name that is in the folder is ever made a path, and only an account of ours is read. */
function chosen(state: RunState, wanted: string | undefined): string {
  const runs = runsIn(state)
  const run = wanted === undefined ? runs[0] : runs.find(name => name === wanted)
  if (run !== undefined) return run
  const newest = runs.slice(0, 5)
  throw new Problem(
    'not_found',
    wanted === undefined || runs.length === 0
      ? 'There has been no run here'
      : `There is no run ${JSON.stringify(wanted.slice(0, 60))}`,
    newest.length > 0
      ? `Name one of them, the newest first: ${newest.join(', ')}${runs.length > newest.length ? ', …' : ''}`
      : 'Begin one: punchlist run --agent NAME, or punchlist run -- COMMAND.',
    { runs: newest },
  )
}

type Sum = { -readonly [K in keyof TaskReport]: TaskReport[K] } & { since: string | undefined }

/** A task that was claimed several times is one: its times add up, and what came of it last is what came of it. */
function tasksIn(entries: readonly Entry[], unended: Became, last: string): TaskReport[] {
  const sums = new Map<string, Sum>()
  for (const entry of entries) {
    if (entry.what === 'claimed') sums.set(entry.task, claimed(sums.get(entry.task), entry))
    const sum = 'task' in entry ? sums.get(entry.task) : undefined
    if (sum) add(sum, entry)
  }
  return [...sums.values()].map(({ since, ...sum }) =>
    since === undefined ? sum : { ...sum, outcome: unended, ms: sum.ms + Date.parse(last) - Date.parse(since) },
  )
}

function claimed(before: Sum | undefined, { task, title, worker, at }: Entry & { what: 'claimed' }): Sum {
  const none = { text: '', attempts: [], sentOn: 0, wards: { passed: 0, failed: 0 }, ms: 0, costUsd: null }
  return { task, title, outcome: 'lost', ...none, ...before, worker, since: at }
}

function add(sum: Sum, entry: Entry): void {
  switch (entry.what) {
    case 'agent_started':
      if (sum.attempts.at(-1) !== entry.attempt) sum.attempts = [...sum.attempts, entry.attempt]
      break
    case 'sent_on':
      sum.sentOn++
      break
    case 'wards': {
      const { passed, failed } = sum.wards
      if (entry.passed === true) sum.wards = { passed: passed + 1, failed }
      if (entry.passed === false) sum.wards = { passed, failed: failed + 1 }
      break
    }
    case 'ended':
      sum.since = undefined
      sum.outcome = entry.outcome
      sum.text = entry.text
      sum.ms += entry.ms
      sum.costUsd = added(sum.costUsd, entry.costUsd)
      break
    default:
  }
}

function added(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0)
}

function countsOf(tasks: readonly TaskReport[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of tasks) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

/** What must be in an entry for it to be read: a folder that was unpacked may bring an account of a stranger's along. */
function isSound(entry: Entry | null): entry is Entry {
  if (typeof entry !== 'object' || entry === null || Number.isNaN(Date.parse(entry.at))) return false
  const fields = entry as unknown as Readonly<Record<string, unknown>>
  const needed = Object.hasOwn(NEEDED, entry.what) ? NEEDED[entry.what] : undefined
  if (!needed || !Object.entries(needed).every(([name, type]) => typeof fields[name] === type)) return false
  return !('task' in entry) || isTaskId(entry.task)
}

const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  run_started: { agent: 'string', workers: 'number', name: 'string' },
  claimed: { task: 'string', worker: 'string', title: 'string' },
  agent_started: { task: 'string', attempt: 'number' },
  agent_ended: { task: 'string' },
  sent_on: { task: 'string' },
  wards: { task: 'string' },
  ended: { task: 'string', outcome: 'string', text: 'string', ms: 'number' },
  run_ended: {},
}
