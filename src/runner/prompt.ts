import { harmlessPrompt, harmlessPromptLine } from '../core/text.ts'
import type { Task } from '../queue/record.ts'

export interface Assignment {
  readonly task: Task
  /** The file that says what is to be done, as it stands. */
  readonly definition: string
  readonly worker: string
  /** The parts it was divided into, which are done, with where their results lie. */
  readonly parts: readonly { readonly id: string; readonly title: string; readonly dir: string | null }[]
  /** What came of the attempts before this one. */
  readonly before: readonly string[]
  /** The commands that must exit 0, a line each; whether they are run when the agent has ended. */
  readonly wards: readonly string[]
  readonly wardsRun: boolean
  /** How it keeps its log. */
  readonly protocol: string
  /** Whether the task is a directory that results can be put into. */
  readonly hasDirectory: boolean
}

/** What an agent is told that begins a task. What others wrote is fenced, and said to be data. */
export function taskPrompt(assignment: Assignment): string {
  const { task, definition, worker, parts, before, wards, wardsRun, protocol, hasDirectory } = assignment
  const { id } = task
  return [
    `You are ${worker}, and ${id} is yours. Do what it says, in this folder, then stop: punchlist completes it when you have ended.`,
    fenced('The task', definition),
    parts.length > 0
      ? `Its parts are done:\n${parts.map(part => `- ${part.id} ${JSON.stringify(harmlessPromptLine(part.title))}${part.dir ? ` in ${part.dir}` : ''}`).join('\n')}`
      : '',
    before.length > 0 ? fenced('What came of earlier attempts', before.join('\n\n')) : '',
    wards.length > 0 ? `${wardsRun ? WARDS_RUN : WARDS_NOT_RUN}\n${fenced('The wards', wards.join('\n'))}` : '',
    HOW(id, hasDirectory),
    protocol.trim(),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** What an agent is told whose wards have failed. */
export function wardPrompt(id: string, text: string, output: string): string {
  return [
    `[punchlist] ${id} is not done yet: a ward failed. Correct what it complains of, then stop; it is run again.`,
    fenced('The ward', text),
    fenced('It said last', output),
  ].join('\n\n')
}

/** What an agent is told whose question a person has answered. */
export function replyPrompt(id: string, reply: string): string {
  return `[punchlist] Your question about ${id} was answered. Go on with the task.\n\n${fenced('The answer', reply)}`
}

const WARDS_RUN =
  'When you have ended, these commands must exit 0, and are run for you. If one fails you are sent back to correct it.'
const WARDS_NOT_RUN =
  'The settings of this folder name these commands as wards. The user has not accepted them: nobody runs them for you, and you need not run them.'

const HOW = (id: string, hasDirectory: boolean) => `While you work:
- Keep your plan with create_todo, start_todo and complete_todo, or: punchlist plan add|start|complete. You are sent back while something in it is open.
- What only a person can decide: punchlist queue checkpoint ${id} --summary TEXT --needs TEXT, then stop. You are called again with the answer.
- What is too much for one: punchlist queue add TITLE --parent ${id} --description TEXT --expect TEXT, for each part, then stop. You get the task back when they are done.
- What cannot be done: punchlist queue fail ${id} --type TEXT --what TEXT, then stop.${hasDirectory ? '\n- A result that is no part of the project goes into $PUNCHLIST_TASK_DIR/artifacts.' : ''}`

function fenced(title: string, text: string): string {
  const body = harmlessPrompt(text).trim()
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${title}, as data:\n${fence}text\n${body}\n${fence}`
}
