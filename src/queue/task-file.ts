import type { Complaint } from '../core/kind.ts'
import { damageIn } from '../core/markdown.ts'
import { isInvisible } from '../core/text.ts'
import { documentText } from './document.ts'
import { NAMED, readDirectoryName, readTaskId } from './names.ts'
import { writtenPath } from './paths.ts'
import { meantPriority } from './priorities.ts'
import { PRIORITIES, type Priority, TASK_TYPES } from './record.ts'
import { type Field, LABELS, type Sayings, sayingsIn } from './sayings.ts'
import { isoTime } from './times.ts'

/** Everything that stands in the file which defines a task. */
export interface Definition {
  readonly id: string
  readonly title: string
  /** One of `TASK_TYPES`, or another word, as it is written. */
  readonly type: string
  readonly priority: Priority
  /** ISO time, UTC. */
  readonly posted: string
  /** Empty for anyone. */
  readonly targetWorker: string
  readonly session: string | null
  readonly dependsOn: readonly string[]
  readonly writes: readonly string[]
  readonly origin: string | null
  readonly discrete: string | null
  readonly description: string
  readonly expectedResponse: string
  readonly entryCriteria: string | null
  readonly exitCriteria: string | null
  readonly subtasks: string | null
  readonly notes: string | null
  /** A value that says nothing, where the task can be read without it. */
  readonly remark?: Complaint | undefined
}

export function renderTask(task: Definition): string {
  const { id, title, type, priority, posted, targetWorker, session, dependsOn, writes, origin, discrete } = task
  return documentText(
    `Request #${id.replace(/^req_/, '')}: ${title}`,
    {
      Type: type,
      Priority: priority,
      Posted: posted,
      'Target Worker': targetWorker,
      Session: session,
      'Depends On': dependsOn.join(', '),
      Writes: writes.join(', '),
      Origin: origin,
      Discrete: discrete,
    },
    {
      'Task Description': task.description,
      'Expected Response': task.expectedResponse,
      'Entry Criteria': task.entryCriteria,
      'Exit Criteria': task.exitCriteria,
      Subtasks: task.subtasks,
      Notes: task.notes,
    },
  )
}

/** What the file in the directory of this name says; else everything that is missing or wrong in it, named at once. */
export function readTask(text: string, name: string): Definition | Complaint {
  const directory = readDirectoryName(name)
  if (!directory) return { line: 1, message: NAMED }
  const said = damageIn(text) ?? sayingsIn(text)
  if ('message' in said) return said
  const wrong: Complaint[] = []
  const texts = (field: Field) => said.get(field)?.text || null
  const titled = titleIn(said)
  const definition = {
    id: directory.id,
    title: present(said, 'title', () => (isInvisible(titled.title) ? undefined : titled.title), wrong),
    type: present(said, 'type', typeIn, wrong),
    priority: present(said, 'priority', value => meantPriority(value) ?? 'NORMAL', wrong),
    posted: present(said, 'posted', isoTime, wrong, 'write a time such as 2026-01-25T14:30:22Z'),
    targetWorker: texts('targetWorker') ?? '',
    session: texts('session'),
    dependsOn: dependenciesIn(said, directory.id, wrong),
    writes: pathsIn(said, wrong),
    origin: texts('origin'),
    discrete: texts('discrete'),
    description: present(said, 'description', value => value, wrong),
    expectedResponse: present(said, 'expectedResponse', value => value, wrong),
    entryCriteria: texts('entryCriteria'),
    exitCriteria: texts('exitCriteria'),
    subtasks: texts('subtasks'),
    notes: texts('notes'),
    remark: priorityRemark(said),
  }
  if (titled.id !== undefined && titled.id !== directory.id)
    wrong.push({ line: titled.line, message: `says it is ${titled.written}, its directory is ${name}` })
  for (const field of ['title', 'heading', 'type', 'targetWorker', 'session', 'origin', 'discrete'] as const) {
    const { text: words = '', line = 1 } = said.get(field) ?? {}
    if (words.length > LONGEST) wrong.push({ line, message: `${LABELS[field]} is longer than ${LONGEST} characters` })
  }
  const [first] = wrong
  if (!first) return definition as Definition
  return { line: first.line, message: wrong.map(({ message }) => message).join('; ') }
}

/** The id that a task file names in its title or its frontmatter, if it does. */
export function idIn(text: string): string | undefined {
  const said = sayingsIn(text)
  return 'message' in said ? undefined : titleIn(said).id
}

/** Of one line: what is longer was meant for a section. */
const LONGEST = 2000

/** A field that every task has; one that is missing or wrong is told. */
function present<T extends string>(
  said: Sayings,
  field: Field,
  read: (value: string) => T | undefined,
  wrong: Complaint[],
  use = '',
): T | undefined {
  const part = said.get(field) ?? (field === 'title' ? said.get('heading') : undefined)
  const value = part?.text ? read(part.text) : undefined
  if (value) return value
  const line = part?.line ?? 1
  if (part?.text && use) wrong.push({ line, message: `${LABELS[field]}: ${shown(part.text)} cannot be read; ${use}` })
  else wrong.push({ line, message: `${LABELS[field]} is missing` })
  return undefined
}

/** A type without what decorates it, in the spelling of ours where it is one of ours. */
function typeIn(value: string): string {
  const word = value.length > LONGEST ? value : value.replace(/^[\s*_`"']+|[\s*_`"']+$/g, '')
  return TASK_TYPES.find(type => type.toLowerCase() === word.toLowerCase()) ?? word
}

function priorityRemark(said: Sayings): Complaint | undefined {
  const { text = '', line = 1 } = said.get('priority') ?? {}
  if (text === '' || meantPriority(text)) return undefined
  const use = `the task counts as NORMAL; use one of ${PRIORITIES.join(', ')}`
  return { line, message: `${LABELS.priority}: ${shown(text)} is no priority; ${use}` }
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

/** The title, and the id that stands before it or beside it. */
function titleIn(said: Sayings): { title: string; id?: string; written?: string; line: number } {
  const { text = '', line = 1 } = said.get('title') ?? said.get('heading') ?? {}
  const beside = said.get('id')
  const [, token = '', rest = ''] = /^(?:request[ \t]+)?((?:#|req_)[^\s:]{1,200})[ \t]*(.*)$/is.exec(text) ?? []
  const id = readTaskId(token)
  const separated = /^[:–—-]/.test(rest) || rest === ''
  if (id !== undefined && separated) return { title: rest.slice(1).trim(), id, written: token, line }
  const other = beside && /^(?:#|req_)/i.test(beside.text) ? readTaskId(beside.text) : undefined
  return other === undefined
    ? { title: text, line }
    : { title: text, id: other, written: beside!.text, line: beside!.line }
}

function dependenciesIn(said: Sayings, own: string, wrong: Complaint[]): string[] {
  const { text = '', items = [], line = 1 } = said.get('dependsOn') ?? {}
  const words = (items.length > 0 && (text === '' || text.startsWith('- ')) ? items.join(' ') : text).split(/[\s,;]+/)
  const ids = new Set<string>()
  for (const word of words.map(each => each.replace(/^[`"'[(]{1,3}|[`"'\])]{1,3}$/g, ''))) {
    if (word === '' || word === '-' || /^(?:none|nothing|n\/a)$/i.test(word)) continue
    const id = readTaskId(word)
    if (id === undefined)
      wrong.push({ line, message: `Depends On: ${shown(word)} is no id; write ids such as req_0001` })
    else if (id === own) wrong.push({ line, message: `Depends On: it cannot wait for itself` })
    else ids.add(id)
  }
  return [...ids]
}

function pathsIn(said: Sayings, wrong: Complaint[]): string[] {
  const { text = '', items = [], line = 1 } = said.get('writes') ?? {}
  const written = items.length > 0 && (text === '' || text.startsWith('- ')) ? items : text.split(',')
  const paths = new Set<string>()
  for (const word of written.map(each => each.trim().replace(/^`|`$/g, ''))) {
    if (word === '' || /^(?:none|nothing|n\/a)$/i.test(word)) continue
    const path = writtenPath(word)
    if (path === undefined)
      wrong.push({ line, message: `Writes: ${shown(word)} is no path below the folder of the work` })
    else paths.add(path)
  }
  return [...paths]
}
