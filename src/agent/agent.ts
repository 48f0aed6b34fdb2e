import { join } from 'node:path'
import type { ToolSet } from 'ai'
import { stopCommands } from '../core/check.ts'
import type { CompletionMode } from '../core/completion.ts'
import type { Operation } from '../core/operation.ts'
import { callerOf, type Punchlist } from '../library.ts'
import type { SupervisorEvent, TurnResult } from '../supervisor/events.ts'
import { createSupervisor } from '../supervisor/supervisor.ts'
import { aiTools, turnTools } from '../supervisor/toolbox.ts'
import { type InTurn, oneAfterTheOther } from '../tooling.ts'
import type { ToolSetName } from '../tools.ts'
import { concealing } from './concealing.ts'
import { Conversation } from './conversation.ts'
import { turnToCarry } from './earlier.ts'
import type { Endpoint } from './endpoint.ts'
import { modelProblem } from './failing.ts'
import { Folder } from './folder.ts'
import { modelAt } from './model.ts'
import { agentPrompt } from './prompt.ts'
import { readingTools } from './reading.ts'
import { runningTool } from './running.ts'
import { Seen, writingTools } from './writing.ts'

export interface AgentOptions {
  readonly list: Punchlist
  readonly endpoint: Endpoint
  readonly conversationId: string
  readonly turnId: string
  readonly prompt: string
  /** The folder it works in: nothing outside is read or written. */
  readonly folder: string
  /** The workspace: what was said is kept in its `.punchlist`. */
  readonly root: string
  readonly sets: readonly ToolSetName[]
  readonly system: string | undefined
  readonly write: boolean
  /** The programs it may run. */
  readonly allowed: readonly string[]
  readonly maxCalls: number | undefined
  readonly completion: CompletionMode | undefined
  /** The command that must exit 0 for an item to count as done, word by word. */
  readonly check: readonly string[] | undefined
  /** Under which name it acts. */
  readonly name: string
  readonly signal: AbortSignal
  readonly onEvent: (event: SupervisorEvent) => void
  /** What whoever looks on should know before it begins. */
  readonly remark: (text: string) => void
}

/** One message of the user to an agent, and its answer: a turn of the supervisor on a model at an endpoint. */
export async function runAgent(options: AgentOptions): Promise<TurnResult> {
  const { list, endpoint, conversationId, turnId, prompt, root, name, signal, completion, check } = options
  const conceal = concealing(endpoint.key)
  const conversation = new Conversation(join(root, '.punchlist'), conversationId, callerOf(list).seal())
  const { before, alone } = conversation.begin({ turn: turnId, content: conceal(prompt) }, new Date())
  const scoped = list.as({ conversationId, turnId, actor: name })
  const planning = options.sets.includes('plan')
  const from = alone && planning ? await turnToCarry(list, conversationId, turnId) : undefined
  if (!alone) options.remark('Another agent is at work in this conversation: its plan stays its own.')
  const { tools, settled } = await toolsOf(options, scoped)
  const supervisor = createSupervisor({
    model: modelAt(endpoint),
    store: list,
    name,
    tools,
    planning,
    instructions: agentPrompt({ ...options, folder: new Folder(options.folder).path }),
    ...(completion ? { completion } : {}),
    ...(check ? { check } : {}),
    ...(options.maxCalls === undefined ? {} : { limits: limitsOf(options.maxCalls) }),
    onEvent: options.onEvent,
  })
  // Again and again: of several commands that were asked for at once, the next begins when one has ended.
  const stopping = setInterval(() => signal.aborted && stopCommands(), 50)
  try {
    const history = before.map(({ role, content }) => ({ role, content }))
    const how = { conversationId, history, signal, ...(from === undefined ? {} : { carry: from }) }
    const result = await supervisor.handleMessage({ id: turnId, content: prompt }, how).result
    const told = { ...result, text: conceal(result.text) }
    conversation.end({ turn: turnId, content: told.text }, new Date())
    return told
  } catch (error) {
    throw signal.aborted ? error : (modelProblem(error, endpoint) ?? error)
  } finally {
    await settled()
    clearInterval(stopping)
  }
}

function limitsOf(most: number): { base: number; withPlan: number } {
  return { base: Math.min(10, most), withPlan: most }
}

/** Everything but the plan's own tools, and a way to wait for what they have begun. */
async function toolsOf(
  options: AgentOptions,
  scoped: Punchlist,
): Promise<{ tools: ToolSet; settled: () => Promise<void> }> {
  const conceal = concealing(options.endpoint.key)
  const folder = new Folder(options.folder)
  const seen = new Seen()
  const own: Operation[] = [
    ...readingTools(folder, conceal, (place, text) => seen.note(place, text)),
    ...(options.write ? writingTools(folder, seen) : []),
    ...(options.allowed.length > 0 ? [runningTool(folder, options.allowed, conceal)] : []),
  ]
  const queue = oneAfterTheOther()
  const inTurn: InTurn = work =>
    queue(async () => {
      options.signal.throwIfAborted()
      return await work()
    })
  const lists = await aiTools(
    scoped,
    options.sets.filter(set => set !== 'plan'),
  )
  return {
    tools: { ...turnTools(own, callerOf(scoped), inTurn), ...lists },
    settled: () => queue(async () => undefined),
  }
}
