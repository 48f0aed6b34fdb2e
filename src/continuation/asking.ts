import { agentFrom, endingOf } from './events.ts'
import { reasonOf } from './failing.ts'
import { type Standing, UNTOUCHED, type Work } from './judging.ts'
import type { Later, SessionMessage, TodoContinuationOptions } from './options.ts'
import type { Answers } from './signals.ts'
import { workOf } from './todos.ts'

/** The facts about a session, or why there are none. */
export type Gathered =
  | { readonly type: 'answered'; readonly answers: Answers }
  | { readonly type: 'unanswered'; readonly why: string }

/** Asks for everything that a decision depends on. What fails is told, never thrown. */
export async function gather(options: TodoContinuationOptions, sessionId: string, recall: boolean): Promise<Gathered> {
  try {
    if (!(await isMine(options, sessionId))) return unanswered('neither the main session nor a subagent')
    const background = await asked('getBackgroundTaskCount', () => options.getBackgroundTaskCount?.(sessionId))
    // Looked at every few seconds: the rest is not asked for nothing.
    if (background !== undefined && background > 0) return { type: 'answered', answers: { ...BUSY, background } }
    const [work, ended, info, awaiting, standing] = await Promise.all([
      workFor(options, sessionId),
      endingFor(options, sessionId),
      asked('getAgentInfo', () => options.getAgentInfo?.(sessionId)),
      asked('isAwaitingAnswer', () => options.isAwaitingAnswer?.(sessionId)),
      recall ? recalled(options, sessionId) : undefined,
    ])
    // Last, so that somebody who switches it off meanwhile is heard.
    const off = await asked('isStopped', () => options.isStopped?.(sessionId))
    const answers: Answers = {
      ...BUSY,
      work,
      ended,
      off: off ? (off === 'all' ? 'all' : 'session') : null,
      asked: awaiting === true,
      agent: agentFrom(info?.agent),
      mayWrite: info?.hasWritePermission !== false,
      planning: info?.planning === true,
      standing,
    }
    return { type: 'answered', answers }
  } catch (error) {
    return unanswered(reasonOf(error))
  }
}

function unanswered(why: string): Gathered {
  return { type: 'unanswered', why }
}

const NOTHING: Work = { open: 0, waiting: 0, completed: 0, total: 0 }

/** With nothing open it is never sent on. */
const BUSY: Answers = {
  work: NOTHING,
  ended: null,
  off: null,
  background: 0,
  asked: false,
  agent: undefined,
  mayWrite: true,
  planning: false,
}

async function isMine(options: TodoContinuationOptions, sessionId: string): Promise<boolean> {
  const main = await asked('getMainSessionId', () => options.getMainSessionId?.())
  if (!main || main === sessionId) return true
  return (await asked('isSubagentSession', () => options.isSubagentSession?.(sessionId))) === true
}

async function workFor(options: TodoContinuationOptions, sessionId: string): Promise<Work> {
  const todos = (await asked('getTodos', () => options.getTodos?.(sessionId))) ?? []
  return workOf(listed('getTodos', todos))
}

async function endingFor(options: TodoContinuationOptions, sessionId: string): Promise<Answers['ended']> {
  if (!options.getMessages) return null
  const messages = listed('getMessages', await asked('getMessages', () => options.getMessages?.(sessionId)))
  const own = (message: SessionMessage) => message.info ?? message
  const last = messages.findLast(message => own(message).role === 'assistant')
  return (last && endingOf(own(last).error)) ?? null
}

async function recalled(options: TodoContinuationOptions, sessionId: string): Promise<Standing> {
  return { ...UNTOUCHED, ...(await asked('memory.load', () => options.memory?.load(sessionId))) }
}

async function asked<T>(name: string, answer: () => Later<T>): Promise<T> {
  try {
    return await answer()
  } catch (error) {
    throw new Error(`${name} failed: ${reasonOf(error)}`, { cause: error })
  }
}

/** What is no object is left out: it says nothing. */
function listed<T extends object>(name: string, answer: readonly T[] | null | undefined): T[] {
  if (!Array.isArray(answer)) throw new Error(`${name} gave no list`)
  return (answer as readonly unknown[]).filter((one): one is T => typeof one === 'object' && one !== null)
}
