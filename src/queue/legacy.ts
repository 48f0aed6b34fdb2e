import type { Entry } from '../core/kind.ts'
import { damageIn } from '../core/markdown.ts'
import { EXECUTION_LOG, hasEntry, type LogEntry } from './execution-log.ts'
import { flagFor, flagsIn, type Word } from './flags.ts'
import { directoryName, numbersIn, readDirectoryName, readTaskId, taskId } from './names.ts'
import { completionOf } from './old-completion.ts'
import { type OldDirectory, type OldTask, oldTask } from './old-task.ts'
import { idIn } from './task-file.ts'

export interface Listing {
  readonly directories: readonly OldDirectory[]
  /** The paths of everything else in the folders of states. */
  readonly others: readonly string[]
}

/** One change on the way to the present form. Paths are below the root. */
export interface Step {
  readonly kind: 'rename' | 'flag' | 'log' | 'remove'
  readonly from: string
  readonly to: string
  readonly why: string
  /** What is added to a log. */
  readonly entry?: LogEntry
}

export interface Refusal {
  readonly from: string
  readonly why: string
}

export interface MigrationPlan {
  /** For each directory, in the order in which they must be made. */
  readonly tasks: readonly (readonly Step[])[]
  readonly refused: readonly Refusal[]
}

/** The text of a file, undefined where it is none. */
type Reader = (path: string) => string | undefined

/**
 * What has to be done so that every task has its present form. A directory
 * whose new name or id is taken is refused, and nothing of it is changed.
 */
export function migrationPlan({ directories, others }: Listing, text: Reader): MigrationPlan {
  const refused: Refusal[] = others
    .filter(isLoose)
    .map(path => ({ from: path, why: 'is a task file outside of a directory of its own' }))
  const old: OldTask[] = []
  const ids = new Map<string, string[]>()
  const taken = (id: string, path: string) => ids.set(id, [...(ids.get(id) ?? []), path])
  for (const directory of directories.toSorted((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1))) {
    const task = oldTask(directory)
    const id = readDirectoryName(directory.name)?.id
    if (task && 'refused' in task) refused.push({ from: pathOf(directory), why: task.refused })
    else if (task) old.push(task)
    if (id !== undefined && !(task && 'path' in task)) taken(id, pathOf(directory))
  }
  const named = old.map(task => ({ task, id: task.id ?? idIn(text(`${task.path}/${task.file.name}`) ?? '') }))
  for (const { task, id } of named) if (id !== undefined) taken(id, task.path)
  let next = [...ids.keys(), ...others].reduce((last, path) => Math.max(last, familyIn(path)), 0) + 1
  const there = new Set(others)
  const tasks: Step[][] = []
  for (const { task, id: known } of named) {
    const id = known ?? taskId('', next++)
    const rivals = (ids.get(id) ?? []).filter(path => path !== task.path)
    const steps =
      rivals.length > 0
        ? `${id} is also the id of ${rivals.join(', ')}`
        : stepsFor(task, id, known === undefined, there, text)
    if (typeof steps === 'string') refused.push({ from: task.path, why: steps })
    else if (steps.length > 0) tasks.push(steps)
  }
  return { tasks, refused: refused.toSorted((one, other) => (one.from < other.from ? -1 : 1)) }
}

function pathOf({ folder, name }: OldDirectory): string {
  return folder === '' ? name : `${folder}/${name}`
}

function isLoose(path: string): boolean {
  return /^[^/]+\/.+\.\d{1,10}\.md$/s.test(path)
}

/** The number that a name takes, task or not; 0 for none. */
function familyIn(path: string): number {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return /^req_\d/i.test(name) ? numbersIn(readTaskId(name) ?? '').family : 0
}

/**
 * What was only in a name is written down before that name goes, and a file is
 * removed last: whoever is killed in between has lost nothing, and a second run
 * goes on from there.
 */
function stepsFor(
  task: OldTask,
  id: string,
  isNew: boolean,
  others: ReadonlySet<string>,
  text: Reader,
): Step[] | string {
  const name = directoryName({ id, slug: task.slug })
  const claimed = task.pid !== undefined
  // A claimed task is in progress, wherever its claimant left it.
  const folder = claimed && (task.folder === 'to_execute' || task.folder === 'staged') ? 'in_progress' : task.folder
  const target = folder === '' ? name : `${folder}/${name}`
  if (target !== task.path && others.has(target)) return `${target} is there already`
  const move: Step[] =
    target === task.path
      ? []
      : [{ kind: 'rename', from: task.path, to: target, why: whyNamed(task, id, isNew, folder) }]
  // Where the name stays, nothing but the files tells that there is more to do: they come last.
  const first = name === task.name ? move : []
  const at = first.length > 0 ? target : task.path
  const inside = [claimSteps, fileStep, completionSteps].map(make => make({ task, id, name, at, text }))
  const wrong = inside.find(steps => typeof steps === 'string')
  if (wrong !== undefined) return wrong
  return [...first, ...(inside as Step[][]).flat(), ...(first.length > 0 ? [] : move)]
}

function whyNamed({ name, pid, bare, id: own }: OldTask, id: string, isNew: boolean, folder: string): string {
  if (name.startsWith(`${id}_`)) return `process ${pid} claimed it, so it is ${folder}`
  if (isNew) return `${bare} has no id: ${id} is the next free one`
  return own === undefined ? `its task file says it is ${id}` : 'a directory is named after its id and its slug alone'
}

interface Making {
  readonly task: OldTask
  readonly id: string
  readonly name: string
  /** Where the directory lies while its files are changed. */
  readonly at: string
  readonly text: Reader
}

function claimSteps(making: Making): Step[] | string {
  const { task, id, at } = making
  const { pid, claimedAt, file, entries } = task
  if (pid === undefined) return []
  const time = claimedAt ?? new Date(file.written).toISOString()
  const source = claimedAt === undefined ? file.name : task.name
  const known = claimedAt === undefined ? ' (when is not told: the time of its task file is taken)' : ''
  const from = claimedAt === undefined ? `${at}/${source}` : at
  const entry = { at: time, by: `process ${pid}`, what: 'claimed', note: `Taken from the name ${source}${known}.` }
  const log = logStep(making, entry, from, `process ${pid} and the claim time stood in a name alone`)
  if (typeof log === 'string') return log
  const started = flagsIn(id, entries).flags.some(({ what }) => what === 'started')
  const flag = started ? [] : flagStep(making, 'started', time, from, `it was claimed at ${time}${known}`)
  return typeof flag === 'string' ? flag : [...log, ...flag]
}

function fileStep({ task, name, at }: Making): Step[] | string {
  const from = task.file.name
  const to = `${name}.md`
  if (from === to) return []
  if (task.entries.some(entry => entry.name === to)) return `has ${to} beside ${from}`
  return [
    { kind: 'rename', from: `${at}/${from}`, to: `${at}/${to}`, why: 'the task file is named after its directory' },
  ]
}

function completionSteps(making: Making): Step[] | string {
  const { task, at, text } = making
  const steps: Step[] = []
  for (const { entry, pid } of task.completions) {
    const words = text(`${task.path}/${entry.name}`)
    if (words === undefined || damageIn(words)) return `${entry.name} is not text in UTF-8`
    const from = `${at}/${entry.name}`
    const { what, time, logEntry } = completionOf(words, entry, pid, task.folder)
    const log = logStep(making, logEntry, from, 'what a completion says is kept in the log')
    const flag = flagStep(making, what, time, from, `it says ${what} at ${time}`)
    if (typeof log === 'string') return log
    if (typeof flag === 'string') return flag
    const again = new Set(steps.map(({ to }) => to))
    steps.push(...log, ...flag.filter(({ to }) => !again.has(to)))
    steps.push({
      kind: 'remove',
      from,
      to: `${at}/${EXECUTION_LOG}`,
      why: 'its text is in the log, and the flag tells the rest',
    })
  }
  return steps
}

function logStep({ task, at, text }: Making, entry: LogEntry, from: string, why: string): Step[] | string {
  const there = task.entries.find(({ name }) => name === EXECUTION_LOG)
  const log = there && text(`${task.path}/${EXECUTION_LOG}`)
  if (there && (!there.isFile || log === undefined || damageIn(log))) return `${EXECUTION_LOG} is not a text file`
  return log !== undefined && hasEntry(log, entry)
    ? []
    : [{ kind: 'log', from, to: `${at}/${EXECUTION_LOG}`, why, entry }]
}

function flagStep({ task, id, at }: Making, what: Word, time: string, from: string, why: string): Step[] | string {
  const name = flagFor(id, what, time)
  const there = task.entries.find((entry: Entry) => entry.name === name)
  if (there) return there.isFile && there.size === 0 ? [] : `${name} is there, and is no empty file`
  return [{ kind: 'flag', from, to: `${at}/${name}`, why }]
}
