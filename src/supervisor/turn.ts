import type { LanguageModelUsage, ModelMessage, ToolSet } from 'ai'
import type { Caller } from '../core/operation.ts'
import { type Budget, budgetOf, extended, type Limits } from '../plans/budget.ts'
import {
  type Closing,
  NO_PLAN,
  NOTHING_PLANNED,
  planClosing,
  planStanding,
  type Standing,
  standingText,
} from '../plans/context.ts'
import { type Counts, NO_COUNTS } from '../plans/outlook.ts'
import { bridged } from './bridging.ts'
import { Broadcast } from './broadcast.ts'
import { type CallTrace, type Left, type ModelName, type SupervisorEvent, type TurnResult, traced } from './events.ts'
import { Transcript } from './history.ts'
import { cancelledText, countsText, leftOf, leftText, silence } from './left.ts'
import { added, NO_USAGE } from './message.ts'
import type { SupervisorOptions } from './options.ts'
import { type Part, type Step, takeStep } from './step.ts'

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

/** A turn: the model is called, with the plan before its eyes, until the plan is drained and it has answered. */
export class TurnLoop {
  readonly events = new Broadcast<SupervisorEvent>()
  readonly parts = new Broadcast<Part>()
  private readonly setup: TurnSetup
  private usage: LanguageModelUsage = NO_USAGE
  private spoken = false
  private warned = false

  constructor(setup: TurnSetup) {
    this.setup = setup
  }

  /** `message`: what the user said. */
  async run(message: readonly ModelMessage[]): Promise<TurnResult> {
    const { limits, history, options } = this.setup
    const transcript = new Transcript([...history, ...message], options.turnLimit ?? 100)
    let plan = await this.standing()
    let budget: Budget = budgetOf(limits, plan.state)
    let reminded = false
    for (let call = 1; ; call++) {
      const step = await this.call(transcript, plan, { call, last: call >= budget.max, allowed: budget.max })
      transcript.add(step.said)
      plan = await this.standing()
      budget = extended(budget, call, plan)
      const next = following(step, plan, { out: call >= budget.max, reminded })
      if (next === 'send_back' || next === 'remind') {
        transcript.add([next === 'remind' ? REMINDED : SENT_BACK])
        this.tell({ type: 'sent_back', call, remaining: plan.open + plan.waiting })
        reminded ||= next === 'remind'
      } else if (next !== 'go_on') {
        const closing = this.setup.planning ? await planClosing(this.setup.caller) : NOTHING_PLANNED
        const result = this.ended(step, plan, call, next, closing)
        return { ...result, messages: [...message, { role: 'assistant', content: result.text }] }
      }
    }
  }

  started(): void {
    const { caller, turnId } = this.setup
    this.tell({ type: 'turn_started', conversationId: caller.scope.conversationId, turnId })
    this.parts.push({ type: 'start' })
  }

  /** A listener that fails is warned of, once, and the turn goes on. */
  readonly tell = (event: SupervisorEvent): void => {
    this.events.push(event)
    const warn = (error: unknown) => {
      if (!this.warned) process.emitWarning(`onEvent of the supervisor has failed: ${String(error)}`)
      this.warned = true
    }
    try {
      const heard: unknown = this.setup.options.onEvent?.(event)
      if (heard instanceof Promise) heard.catch(warn)
    } catch (error) {
      warn(error)
    }
  }

  readonly say = (text: string, call: number, answer: boolean, first: boolean): void => {
    // What was said in an earlier call is another paragraph.
    if (answer && first && this.spoken) this.tell({ type: 'text', call, text: '\n\n', answer })
    if (answer) this.spoken = true
    this.tell({ type: 'text', call, text, answer })
  }

  readonly show = (part: Part): void => this.parts.push(part)

  /** What is left in the plan, as far as that can be told. */
  async left(): Promise<{ remaining: number; left: Left[]; counts: Counts }> {
    const { planning, caller } = this.setup
    try {
      const { counts } = planning ? await planClosing(caller) : NOTHING_PLANNED
      return { ...leftOf(planning ? await planStanding(caller) : NO_PLAN), counts }
    } catch {
      return { remaining: 0, left: [], counts: NO_COUNTS }
    }
  }

  private async standing(): Promise<Standing> {
    const { planning, caller, signal } = this.setup
    signal.throwIfAborted()
    return planning ? await planStanding(caller) : NO_PLAN
  }

  private async call(transcript: Transcript, plan: Standing, { call, last, allowed }: How): Promise<Step> {
    const { agent, model, caller, trace: parent, options } = this.setup
    this.tell({ type: 'call_started', call, allowed, remaining: plan.open + plan.waiting })
    const trace: CallTrace = { parent, agent, conversationId: caller.scope.conversationId, call, model }
    const messages = bridged(transcript.with(standingText(plan, last), options.cachePoint), model)
    // What the model says while something is left to be done is not the answer yet.
    const answer = last || plan.open === 0
    const step = await traced('call', trace, () =>
      takeStep({ ...this.setup, messages, call, last, answer }, this, trace),
    )
    this.usage = added(this.usage, step.usage)
    return step
  }

  private ended(
    step: Step,
    plan: Standing,
    calls: number,
    end: TurnResult['end'],
    { counts, cancelled }: Closing,
  ): Omit<TurnResult, 'messages'> {
    const { caller, turnId } = this.setup
    const { conversationId } = caller.scope
    const tail = [cancelledText(cancelled, counts), leftText(plan), countsText(counts)]
    const closing = [step.text.trim() === '' ? silence(end, calls) : '', ...tail]
    // The plan may have been drained by somebody else while the model spoke: then it was the answer after all.
    const unheard = [step.shown ? '' : step.text, ...closing].filter(part => part.trim() !== '').join('\n\n')
    if (unheard !== '') {
      this.say(unheard, calls, true, true)
      for (const part of asParts(unheard)) this.parts.push(part)
    }
    const text = [step.text, ...closing].filter(part => part.trim() !== '').join('\n\n')
    const usage = this.usage
    const finishReason = end === 'answered' ? 'stop' : end === 'budget' ? 'length' : 'tool-calls'
    this.parts.push({ type: 'finish', finishReason, rawFinishReason: undefined, totalUsage: usage })
    return { conversationId, turnId, text, ...leftOf(plan), counts, calls, usage, end }
  }
}

interface How {
  readonly call: number
  readonly last: boolean
  readonly allowed: number
}

/** What the model is told that answered while something could still be done. */
const SENT_BACK: ModelMessage = {
  role: 'user',
  content: '[punchlist] Items of the plan can still be worked on, so this was not the answer yet. Go on with the plan.',
}

/** What the model is told that said nothing. */
const REMINDED: ModelMessage = { role: 'user', content: '[punchlist] Nothing was said. Answer the user.' }

/** What follows on a call of the model. */
function following(
  { called, unanswered, text }: Step,
  { open }: Standing,
  { out, reminded }: { readonly out: boolean; readonly reminded: boolean },
): 'go_on' | 'send_back' | 'remind' | TurnResult['end'] {
  if (unanswered > 0) return 'unanswered'
  if (called > 0) return out ? 'budget' : 'go_on'
  if (open > 0) return out ? 'budget' : 'send_back'
  if (text.trim() !== '') return 'answered'
  if (out) return 'budget'
  return reminded ? 'answered' : 'remind'
}

function asParts(text: string): Part[] {
  const id = 'punchlist-left'
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, text },
    { type: 'text-end', id },
  ]
}
