import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { STATES, type State } from './queue-model.ts'

/** What lies in a workspace, read by other means than the program's: folders, lines of text, a table. */

export interface TaskOnDisk {
  readonly id: string
  readonly name: string
  readonly state: State
  readonly title: string
  readonly priority: string
  readonly posted: string
  readonly dependsOn: readonly string[]
  readonly started: number
  readonly completed: number
  readonly checkpoints: number
  readonly replies: number
  readonly failures: number
  readonly links: Readonly<Record<string, string>>
}

const TASK_NAME = /^(req_\d{4,}(?:_\d\d)*)_(?!\d\d_)/

/** Every task's directory, in the order of the folders. What else lies in them is named as such. */
export function tasksOnDisk(root: string): { tasks: TaskOnDisk[]; strange: string[] } {
  const tasks: TaskOnDisk[] = []
  const strange: string[] = []
  for (const state of STATES) {
    const folder = join(root, 'coordination', state)
    for (const name of namesIn(folder)) {
      const id = TASK_NAME.exec(name)?.[1]
      if (id === undefined || !lstatSync(join(folder, name)).isDirectory()) strange.push(`${state}/${name}`)
      else tasks.push(taskIn(join(folder, name), { id, name, state }))
    }
  }
  return { tasks, strange }
}

function taskIn(folder: string, about: Pick<TaskOnDisk, 'id' | 'name' | 'state'>): TaskOnDisk {
  const { id, name } = about
  const names = readdirSync(folder)
  const text = readFileSync(join(folder, `${name}.md`), 'utf8')
  const field = (key: string) => new RegExp(`^\\*\\*${key}:\\*\\* *(.*)$`, 'm').exec(text)?.[1] ?? ''
  const flags = (kind: string) =>
    names.filter(
      one => new RegExp(`^${id}_\\d{8}T\\d{6}(?:_\\d+)?_${kind}$`).test(one) && lstatSync(join(folder, one)).size === 0,
    )
  const matching = (pattern: RegExp) => names.filter(one => pattern.test(one)).length
  return {
    ...about,
    title: /^# Request #[\d_]+: (.*)$/m.exec(text)?.[1] ?? '',
    priority: field('Priority'),
    posted: field('Posted'),
    dependsOn: field('Depends On').split(', ').filter(Boolean),
    started: flags('started').length,
    completed: flags('completed').length,
    checkpoints: matching(/^checkpoint_\d{3}\.md$/),
    replies: matching(/^checkpoint_\d{3}_reply\.md$/),
    failures: matching(/^error_report(?:_\d{3})?\.md$/),
    links: Object.fromEntries(
      names
        .filter(one => TASK_NAME.test(one) && one !== `${name}.md` && isLink(join(folder, one)))
        .map(one => [one, readlinkSync(join(folder, one))]),
    ),
  }
}

const isLink = (path: string) => lstatSync(path).isSymbolicLink()
/** What a killed process was about to write has a name that begins with a dot, and is none of the list. */
const namesIn = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter(name => !name.startsWith('.'))
        .toSorted()
    : []

export interface TodoOnDisk {
  readonly key: string
  readonly path: string
  readonly text: string
  readonly title: string
  readonly status: string
  readonly owner: string | null
  readonly dependencies: readonly string[]
  readonly resolution: string | null
  readonly reason: string | null
  readonly duplicateOf: string | null
  readonly related: readonly string[]
  /** The rows of its history, the oldest first. */
  readonly history: readonly string[]
}

/** Every todo's file of a session, by source and name. */
export function todosOnDisk(root: string, session: string): TodoOnDisk[] {
  const folder = join(root, 'tmp/work', session, 'todos')
  const sources = namesIn(folder).filter(name => !name.endsWith('.md'))
  return sources.flatMap(source =>
    namesIn(join(folder, source)).map(name => todoIn(join(folder, source, name), `work/${session}/${source}`, name)),
  )
}

function todoIn(path: string, list: string, name: string): TodoOnDisk {
  const text = readFileSync(path, 'utf8')
  const end = text.indexOf('\n---\n', 4)
  if (!text.startsWith('---\n') || end < 0) throw new Error(`${path} has no frontmatter:\n${text}`)
  const fields = new Map(
    text
      .slice(4, end)
      .split('\n')
      .map(line => /^([a-z_]+): ?(.*)$/.exec(line))
      .map(match => [match?.[1] ?? '', match?.[2] ?? '']),
  )
  const body = text.slice(end + 5)
  const value = (key: string) => {
    const written = (fields.get(key) ?? 'null').replace(/^"(.*)"$/, '$1')
    return written === 'null' || written === '' ? null : written
  }
  const listed = (key: string) =>
    (value(key) ?? '[]')
      .slice(1, -1)
      .split(', ')
      .filter(Boolean)
      .map(one => one.replace(/^"(.*)"$/, '$1'))
  const rows = body.slice(body.lastIndexOf('\n## Status History')).split('\n')
  return {
    key: `${list}/${/^\d+/.exec(name)?.[0]}`,
    path,
    text,
    title: /^# (.*)$/m.exec(body)?.[1] ?? '',
    status: value('status') ?? '',
    owner: value('assigned_to'),
    dependencies: listed('dependencies'),
    resolution: value('resolution'),
    reason: value('resolution_reason'),
    duplicateOf: value('duplicate_of'),
    related: listed('related_todos'),
    history: rows.filter(row => /^\| \d{4}-/.test(row)),
  }
}

export interface LogOnDisk {
  readonly status: string
  readonly sections: readonly {
    readonly number: number
    readonly subject: string
    readonly status: string
    readonly subtasks: readonly { readonly text: string; readonly done: boolean }[]
    readonly decisions: readonly string[]
  }[]
}

/** Every worker's log of a session, by `session/worker`. */
export function logsOnDisk(root: string, session: string): Record<string, LogOnDisk> {
  const folder = join(root, 'tmp/work', session, 'todos')
  const names = namesIn(folder).filter(name => name.endsWith('.md') && !name.startsWith('_'))
  return Object.fromEntries(names.map(name => [`${session}/${name.slice(0, -3)}`, logIn(join(folder, name))]))
}

function logIn(path: string): LogOnDisk {
  const text = readFileSync(path, 'utf8')
  const [head = '', ...sections] = text.split(/^## Task #/m)
  return {
    status: /^status: (.*)$/m.exec(head)?.[1] ?? '',
    sections: sections.map(section => {
      const [, number, subject] = /^(\d+): (.*)$/m.exec(section) ?? []
      const subtasks = [...section.matchAll(/^- \[([ x])\] (.*)$/gm)]
      const decisions = /^### Decisions\n([\s\S]*?)(?=^#|(?![\s\S]))/m.exec(section)?.[1] ?? ''
      return {
        number: Number(number),
        subject: subject ?? '',
        status: /^\*\*Status\*\*: (.*)$/m.exec(section)?.[1] ?? '',
        subtasks: subtasks.map(([, box, words]) => ({ text: words!, done: box === 'x' })),
        decisions: [...decisions.matchAll(/^- (.*)$/gm)].map(([, words]) => words!),
      }
    }),
  }
}

export interface ItemOnDisk {
  readonly id: string
  readonly turnId: string
  readonly title: string
  readonly context: string
  readonly status: string
  readonly priority: number
  readonly outcome: string | null
  readonly owner: string | null
  readonly needs: string | null
  readonly carriedFrom: string | null
  readonly startedAt: string | null
  readonly completedAt: string | null
}

/** The items of a conversation by their turns, the turns in the order in which they got their first item. */
export function planOnDisk(root: string, conversation: string): ItemOnDisk[][] {
  const file = join(root, '.punchlist/punchlist.db')
  if (!existsSync(file)) return []
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = database
      .prepare('SELECT * FROM turn_todos WHERE conversationId = ? ORDER BY createdAt, rowid')
      .all(conversation)
    const turns = Map.groupBy(rows as unknown as ItemOnDisk[], ({ turnId }) => turnId)
    return [...turns.values()].map(items => items.toSorted((one, other) => one.priority - other.priority))
  } finally {
    database.close()
  }
}
