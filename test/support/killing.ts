import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { todoFile } from '../../src/backlog/file/format.ts'
import type { Content } from '../../src/core/kind.ts'
import { punchlist, type Ran } from './cli.ts'
import { REVIEW } from './files.ts'

const HERE = ['--session', 's1', '--actor', 'w1']

/** What makes a workspace with one todo that is ready. */
export const READY = ['backlog', 'add', 'A', '--source', 'review', '--status', 'ready', ...HERE]

export interface Verb {
  /** What is done before, to a workspace with one todo. */
  readonly before: readonly string[][]
  readonly args: readonly string[]
  /** The statuses of all todos, in order, afterwards. */
  readonly after: readonly string[]
  /** The moves that the verb makes, all in one write; one unless told. */
  readonly moves?: readonly string[]
}

const LAPSED = [
  ['backlog', 'claim', '1', '--lease', '1ms', '--as', 'w0', '--session', 's1'],
  ['backlog', 'list', '--session', 's1'],
]

export const VERBS: Readonly<Record<'add' | 'claim' | 'complete' | 'release' | 'takeover', Verb>> = {
  add: { before: [], args: ['backlog', 'add', 'B', '--source', 'review', ...HERE], after: ['ready', 'pending'] },
  claim: { before: [], args: ['backlog', 'claim', '1', ...HERE], after: ['in_progress'] },
  complete: {
    before: [['backlog', 'claim', '1', ...HERE]],
    args: ['backlog', 'complete', '1', '--reason', 'x', ...HERE],
    after: ['complete'],
  },
  release: {
    before: [['backlog', 'claim', '1', ...HERE]],
    args: ['backlog', 'release', '1', '--reason', 'x', ...HERE],
    after: ['ready'],
    moves: ['interrupted', 'ready'],
  },
  takeover: {
    before: LAPSED,
    args: ['backlog', 'claim', '1', ...HERE],
    after: ['in_progress'],
    moves: ['interrupted', 'ready', 'in_progress'],
  },
}

/** What is wrong after a verb was stopped somewhere; nothing, if each file is an old or a new one and work goes on. */
export async function outcomeOf(verb: string, cwd: string, base: string, ran?: Ran): Promise<string[]> {
  const wrong: string[] = []
  const { args, after, moves = ['any'] } = VERBS[verb as keyof typeof VERBS]
  const before = todosIn(base)
  const now = todosIn(cwd)
  const statuses = now.map(({ content }) => String(content.fields['status']))
  const isNew = String(statuses) === String(after)
  for (const [n, { text, content }] of now.entries()) {
    const old = before[n]
    if (old && text === old.text) continue
    const rows = old ? old.content.history.length : 0
    if (!isNew || content.history.length !== rows + moves.length) wrong.push(`neither old nor new:\n${text}`)
    const made = content.history.slice(rows).map(({ to }) => to)
    if (moves.length > 1 && String(made) !== String(moves)) wrong.push(`history:\n${text}`)
  }
  if (!isNew && now.length !== before.length) wrong.push(`there are ${now.length}`)
  if (ran?.status === 0 && !isNew) wrong.push('answered, and not kept')
  const listed = await punchlist(['--json', 'backlog', 'list', '--session', 's1'], { cwd })
  if (listed.status !== 0) wrong.push(`list: ${listed.stderr}`)
  const { todos = [] } = JSON.parse(listed.stdout || '{}') as { todos?: { status: string }[] }
  const told = todos.map(({ status }) => status).toSorted()
  if (String(told) !== String(statuses.toSorted())) wrong.push(`listed: ${told.join()}, in files: ${statuses.join()}`)
  const again = await punchlist(args, { cwd })
  if (again.status !== 0) wrong.push(`again: ${again.stderr}`)
  const numbers = todosIn(cwd).map(({ content }) => content.fields['issue_id'])
  if (new Set(numbers).size !== numbers.length) wrong.push(`numbers: ${numbers.join()}`)
  const doctor = await punchlist(['doctor', '--fix'], { cwd })
  if (doctor.status !== 0) wrong.push(`doctor: ${doctor.stdout}${doctor.stderr}`)
  const left = readdirSync(join(cwd, REVIEW)).filter(name => !todoFile.isItem(name))
  if (left.length > 0) wrong.push(`left: ${left.join()}`)
  return wrong
}

function todosIn(cwd: string): { text: string; content: Content }[] {
  const folder = join(cwd, REVIEW)
  return readdirSync(folder)
    .filter(name => todoFile.isItem(name))
    .toSorted()
    .map(name => {
      const text = readFileSync(join(folder, name), 'utf8')
      const content = todoFile.read(text, name, { workflow: 'work', session: 's1', source: 'review' })
      if ('message' in content) throw new Error(`${name}:${content.line} ${content.message}\n${text}`)
      return { text, content }
    })
}
