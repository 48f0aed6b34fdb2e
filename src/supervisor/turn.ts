import {
  isStepCount,
  type LanguageModelUsage,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolSet,
} from 'ai'
import type { Caller } from '../core/operation.ts'
import { harmlessLine } from '../core/text.ts'
import { type Budget, budgetOf, extended, type Limits } from '../plans/budget.ts'
import { planStanding, type Standing, standingText } from '../plans/context.ts'
import { Broadcast } from './broadcast.ts'
import { type CallTrace, type Left, type ModelName, type SupervisorEvent, type TurnResult, traced } from './events.ts'
import { Transcript } from './history.ts'
import { added, NO_USAGE } from './message.ts'
import type { SupervisorOptions } from './options.ts'

export type Part = TextStreamPart<ToolSet>

/** What a turn needs to know, worked out once. */
export interface TurnSetup {
  readonly caller: Caller
  readonly turnId: string
  readonly agent: string
  readonly model: ModelName
  readonly options: SupervisorOptions
  readonly instructions: string | undefined
  readonly tools: ToolSet
  readonly planning: boolean
  readonly limits: Limits
  readonly history: readonly ModelMessage[]
  readonly signal: AbortSignal
  /** What traces of the turn hang from. */
  readonly trace: object
}

/** What the model is told that answered while something could still be done. */
const SENT_BACK: ModelMessage = {
  role: 'user',
  content: '[punchlist] Items of the plan can still be worked on, so this was not the answer yet. Go on with the plan.',
}

/** One call of the model and what its tools did. */
interface Step {
  readonly text: string
  readonly said: readonly ModelMessage[]
  readonly called: number
  /** Calls of tools that nobody has answered. */
  readonly unanswered: number
}

/** A turn: the model is called, with the plan before its eyes, until the plan is drained and it has answered. */
export class TurnLoop {
  readonly events = new Broadcast<SupervisorEvent>()
  readonly parts = new Broadcast<Part>()
  private readonly setup: TurnSetup
  private usage: LanguageModelUsage = NO_USAGE
  private spoken = false

  constructor(setup: TurnSetup) {
    this.setup = setup
  }

  /** `message`: what the user said. */
  async run(message: readonly ModelMessage[]): Promise<TurnResult> {
    const { caller, turnId, limits, history, options } = this.setup
    const { conversationId } = caller.scope
    this.tell({ type: 'turn_started', conversationId, turnId })
    this.parts.push({ type: 'start' })
    const transcript = new Transcript([...history, ...message], options.turnLimit ?? 100)
    let plan = await this.standing()
    let budget: Budget = budgetOf(limits, plan.state)
    for (let call = 1; ; call++) {
      const last = call >= budget.max
      const step = await this.call(transcript, plan, { call, last, allowed: budget.max })
      transcript.add(step.said)
      plan = await this.standing()
      budget = extended(budget, call, plan)
      const out = call >= budget.max
      if (step.called > 0 && step.unanswered === 0 && !out) continue
      if (step.called === 0 && plan.open > 0 && !out) {
        transcript.add([SENT_BACK])
        this.tell({ type: 'sent_back', call, remaining: plan.open + plan.waiting })
        continue
      }
      const end = step.unanswered > 0 ? 'unanswered' : step.called > 0 || plan.open > 0 ? 'budget' : 'answered'
      const result = this.ended(step, plan, call, end)
      return { ...result, messages: [...message, { role: 'assistant', content: result.text }] }
    }
  }

  tell(event: SupervisorEvent): void {
    this.events.push(event)
    this.setup.options.onEvent?.(event)
  }

  /** What is left in the plan, as far as that can be told. */
  async left(): Promise<{ remaining: number; left: Left[] }> {
    try {
      return leftOf(await this.standing())
    } catch {
      return { remaining: 0, left: [] }
    }
  }

  private async standing(): Promise<Standing> {
    const { planning, caller, signal } = this.setup
    signal.throwIfAborted()
    return planning ? await planStanding(caller) : NO_PLAN
  }

  private async call(transcript: Transcript, plan: Standing, how: How): Promise<Step> {
    const { agent, model, caller, trace: parent } = this.setup
    const { call, allowed } = how
    this.tell({ type: 'call_started', call, allowed, remaining: plan.open + plan.waiting })
    const trace: CallTrace = { parent, agent, conversationId: caller.scope.conversationId, call, model }
    return await traced('call', trace, () => this.step(transcript, plan, how, trace))
  }

  private async step(transcript: Transcript, plan: Standing, { call, last }: How, trace: CallTrace): Promise<Step> {
    const { options, instructions, tools, signal } = this.setup
    const asked = Object.keys(tools).length > 0 ? { tools, ...(last ? { toolChoice: 'none' as const } : {}) } : {}
    const made = streamText({
      ...options.settings,
      model: options.model,
      ...(instructions === undefined ? {} : { instructions }),
      messages: transcript.with(standingText(plan, last), options.cachePoint),
      ...asked,
      stopWhen: isStepCount(1),
      abortSignal: signal,
      // Told to whoever asked, not to the console.
      onError: () => undefined,
    })
    // What the model says while something is left to be done is not the answer yet.
    const answer = last || plan.open === 0
    const open = new Set<string>()
    let called = 0
    let text = ''
    for await (const part of made.stream) {
      if (part.type === 'error') throw part.error
      if (part.type === 'abort') throw signal.reason ?? new DOMException(part.reason, 'AbortError')
      if (part.type === 'text-delta') {
        text += part.text
        this.say(part.text, call, answer, text === part.text)
      }
      if (part.type === 'tool-call') {
        called += 1
        if (!part.providerExecuted) open.add(part.toolCallId)
      }
      if (part.type === 'tool-result' && !part.preliminary) open.delete(part.toolCallId)
      if (part.type === 'tool-error') open.delete(part.toolCallId)
      this.tellOf(part, call)
      if (isShown(part, answer)) this.parts.push(part)
    }
    const [said, usage, finishReason, response] = await Promise.all([
      made.responseMessages,
      made.usage,
      made.finishReason,
      made.response,
    ])
    this.usage = added(this.usage, usage)
    trace.result = { finishReason, usage, id: response.id, model: response.modelId }
    this.tell({ type: 'call_ended', call, usage, finishReason })
    return { text, said, called, unanswered: open.size }
  }

  private say(text: string, call: number, answer: boolean, first: boolean): void {
    // What was said in an earlier call is another paragraph.
    if (answer && first && this.spoken) this.tell({ type: 'text', call, text: '\n\n', answer })
    if (answer) this.spoken = true
    this.tell({ type: 'text', call, text, answer })
  }

  private tellOf(part: Part, call: number): void {
    if (part.type === 'tool-call') {
      this.tell({ type: 'tool_called', call, tool: part.toolName, id: part.toolCallId, input: part.input })
    } else if (part.type === 'tool-result' && !part.preliminary) {
      this.tell({ type: 'tool_answered', call, tool: part.toolName, id: part.toolCallId, output: part.output })
    } else if (part.type === 'tool-error') {
      const error = part.error instanceof Error ? part.error.message : String(part.error)
      this.tell({ type: 'tool_failed', call, tool: part.toolName, id: part.toolCallId, error })
    }
  }

  private ended(step: Step, plan: Standing, calls: number, end: TurnResult['end']): Omit<TurnResult, 'messages'> {
    const { caller, turnId } = this.setup
    const { conversationId } = caller.scope
    const { remaining, left } = leftOf(plan)
    // Whoever ran out of calls amid the work has often said nothing.
    const silent = step.text.trim() === '' && end === 'budget' ? `I stopped after ${calls} steps.` : ''
    const rest = [silent, leftText(plan)].filter(Boolean).join('\n\n')
    if (rest !== '') {
      this.say(rest, calls, true, true)
      for (const part of asParts(rest)) this.parts.push(part)
    }
    const text = [step.text, rest].filter(part => part.trim() !== '').join('\n\n')
    const usage = this.usage
    const finishReason = end === 'answered' ? 'stop' : end === 'budget' ? 'length' : 'tool-calls'
    this.parts.push({ type: 'finish', finishReason, rawFinishReason: undefined, totalUsage: usage })
    return { conversationId, turnId, text, left, remaining, calls, usage, end }
  }
}

interface How {
  readonly call: number
  readonly last: boolean
  readonly allowed: number
}

const NO_PLAN: Standing = { open: 0, waiting: 0, completed: 0, total: 0, items: [], state: '' }

function leftOf({ open, waiting, items }: Standing): { remaining: number; left: Left[] } {
  const left = items.map(({ id, title, status, needs }) => ({ id, title, status, needs }))
  return { remaining: open + waiting, left }
}

/** What is left, as the user is told it; empty where nothing is. */
function leftText({ open, waiting, items }: Standing): string {
  if (open + waiting === 0) return ''
  const lines = items.map(({ title, status, needs }) => {
    const state = needs === null ? status : `needs you: ${harmlessLine(needs)}`
    return `- ${harmlessLine(title)} (${state})`
  })
  const more = open + waiting - items.length
  return ['Left in the plan:', ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

/** Whether whoever shows the turn should see this part: each call begins and ends for itself, and interim texts are not the answer. */
function isShown({ type }: Part, answer: boolean): boolean {
  if (type === 'text-start' || type === 'text-delta' || type === 'text-end') return answer
  return type !== 'start' && type !== 'finish' && type !== 'raw'
}

function asParts(text: string): Part[] {
  const id = 'punchlist-left'
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, text },
    { type: 'text-end', id },
  ]
}
