import { COMPLETION_MODES } from '../core/completion.ts'

type Admits = (value: unknown) => boolean

const text: Admits = value => typeof value === 'string'
/** Some are written into the names of files, in another form. */
const time: Admits = value => typeof value === 'string' && !Number.isNaN(Date.parse(value))
const count: Admits = value => Number.isInteger(value) && Number(value) >= 0
const texts: Admits = value => Array.isArray(value) && value.every(text)
/** A command without a first word cannot be started. */
const command: Admits = value => texts(value) && Boolean((value as string[])[0])
const mode: Admits = value => COMPLETION_MODES.some(one => one === value)
const orNone =
  (admits: Admits): Admits =>
  value =>
    value === null || value === undefined || admits(value)
const like =
  (shape: Readonly<Record<string, Admits>>): Admits =>
  value =>
    isRecord(value) && Object.entries(shape).every(([name, admits]) => admits(value[name]))

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const verification = like({
  command,
  exit: orNone(Number.isInteger),
  signal: orNone(text),
  durationMs: Number.isFinite,
  output: text,
  at: time,
  failures: orNone(count),
})
const extra = like({ lines: orNone(texts), tail: orNone(text) })

/**
 * By kind, what the values of a field must be beyond its type: those that every
 * item has, those with a few words to choose from, and all that are JSON. A test
 * compares it with the kinds and with the columns of the tables.
 */
export const VALUES: Readonly<Record<string, Readonly<Record<string, Admits>>>> = {
  plan_item: {
    conversationId: text,
    turnId: text,
    context: text,
    completionCriteria: text,
    priority: count,
    createdAt: time,
    startedAt: orNone(time),
    completedAt: orNone(time),
    verifiedAt: orNone(time),
    completionMode: orNone(mode),
    checkCommand: orNone(command),
    evidence: orNone(texts),
    verification: orNone(verification),
  },
  turn: {
    conversationId: text,
    turnId: text,
    named: count,
    spokenAt: orNone(time),
    completionMode: mode,
    checkCommand: orNone(command),
    createdAt: time,
    endedAt: orNone(time),
  },
  todo: {
    workflow: text,
    session: text,
    source: text,
    file: text,
    issue_id: text,
    tags: texts,
    dependencies: texts,
    files: texts,
    related_todos: texts,
    workflow_chain: texts,
    extra: orNone(extra),
  },
  task: {
    slug: text,
    type: text,
    priority: text,
    rank: count,
    posted: time,
    startedAt: orNone(time),
    finishedAt: orNone(time),
    verifiedAt: orNone(time),
    family: count,
    number: count,
    parent: text,
    targetWorker: text,
    dependsOn: texts,
    writes: orNone(texts),
    waived: value => isRecord(value) && Object.values(value).every(text),
    blockers: count,
    children: count,
    checkpoints: count,
    awaiting: count,
  },
  worklog: { workflow: text, session: text, worker: text, file: text, extra: orNone(extra) },
  continuation: {
    conversationId: text,
    injections: orNone(count),
    fruitless: orNone(count),
    unshortened: orNone(count),
    openBefore: orNone(count),
    completedBefore: orNone(count),
    injectedAt: orNone(time),
    endedAt: orNone(time),
  },
}
