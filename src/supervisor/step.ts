import {
  isStepCount,
  type LanguageModelUsage,
  type ModelMessage,
  type StepResult,
  streamText,
  type TextStreamPart,
  type ToolSet,
} from 'ai'
import type { CallTrace, SupervisorEvent } from './events.ts'
import { isDisobedience, NO_USAGE } from './message.ts'
import type { SupervisorOptions } from './options.ts'

export type Part = TextStreamPart<ToolSet>

/** What a call of the model is made with. */
interface Asked {
  readonly options: SupervisorOptions
  readonly instructions: string | undefined
  readonly tools: ToolSet
  readonly messages: ModelMessage[]
  readonly signal: AbortSignal
  readonly call: number
  /** Whether it must answer: then it cannot call tools. */
  readonly last: boolean
  /** Whether what it says is meant for the user. */
  readonly answer: boolean
}

/** Who learns of a call while it goes on. */
interface Listener {
  readonly tell: (event: SupervisorEvent) => void
  readonly say: (text: string, call: number, answer: boolean, first: boolean) => void
  readonly show: (part: Part) => void
}

/** One call of the model and what its tools did. */
export interface Step {
  readonly text: string
  /** Whether its text has reached the user. */
  readonly shown: boolean
  readonly said: readonly ModelMessage[]
  /** Calls of tools that go on with what they answered. */
  readonly called: number
  /** Calls of tools that wait for somebody's approval. */
  readonly unanswered: number
  readonly usage: LanguageModelUsage
}

/** Calls the model once, and has the tools carried out that it calls. */
export async function takeStep(asked: Asked, listener: Listener, trace: CallTrace): Promise<Step> {
  const { options, instructions, tools, messages, signal, call, last, answer } = asked
  let step: StepResult<ToolSet> | undefined
  const made = streamText({
    ...options.settings,
    model: options.model,
    ...(instructions === undefined ? {} : { instructions }),
    messages,
    ...(Object.keys(tools).length > 0 ? { tools, ...(last ? { toolChoice: 'none' as const } : {}) } : {}),
    stopWhen: isStepCount(1),
    abortSignal: signal,
    // Told to whoever asked, not to the console.
    onError: () => undefined,
    // The promises of the result would read the stream a second time.
    onStepEnd: ended => {
      step = ended
    },
  })
  const calls = new Calls()
  let text = ''
  for await (const part of made.stream) {
    // What the model has said is kept, and the turn is over in any case.
    if (part.type === 'error' && last && isDisobedience(part.error)) {
      const [usage, finishReason] = [NO_USAGE, 'tool-calls']
      trace.result = { finishReason, usage }
      listener.tell({ type: 'call_ended', call, usage, finishReason })
      return { text, shown: answer, said: [], called: 1, unanswered: 0, usage }
    }
    if (part.type === 'error') throw part.error
    if (part.type === 'abort') throw signal.reason ?? new DOMException(part.reason, 'AbortError')
    if (part.type === 'text-delta' && part.text !== '') {
      listener.say(part.text, call, answer, text === '')
      text += part.text
    }
    calls.see(part)
    tellOf(part, call, listener)
    if (isShown(part, answer)) listener.show(part)
  }
  // A model that has produced nothing at all fails here, with what the SDK says to that.
  const { usage, finishReason, response } = step ?? (await made.finalStep)
  const dropped = calls.dropped(`was not carried out: the model's answer ended with ${finishReason}`)
  for (const part of dropped) {
    tellOf(part, call, listener)
    listener.show(part)
  }
  trace.result = { finishReason, usage, id: response.id, model: response.modelId }
  listener.tell({ type: 'call_ended', call, usage, finishReason })
  const { count: called, waiting: unanswered } = calls
  return { text, shown: answer, said: [...response.messages, ...failing(dropped)], called, unanswered, usage }
}

type ToolCall = Extract<Part, { type: 'tool-call' }>
type ToolError = Extract<Part, { type: 'tool-error' }>

/** Which tools a model has called, and what has become of that. */
class Calls {
  count = 0
  private readonly open = new Map<string, ToolCall>()
  private readonly asking = new Set<string>()

  see(part: Part): void {
    // What the provider carries out itself is part of the model's answer.
    if (part.type === 'tool-call' && !part.providerExecuted) {
      this.count += 1
      this.open.set(part.toolCallId, part)
    }
    if (part.type === 'tool-approval-request') this.asking.add(part.toolCall.toolCallId)
    if (part.type === 'tool-result' && !part.preliminary) this.open.delete(part.toolCallId)
    if (part.type === 'tool-error' || part.type === 'tool-output-denied') this.open.delete(part.toolCallId)
  }

  get waiting(): number {
    return [...this.open.keys()].filter(id => this.asking.has(id)).length
  }

  /** The SDK carries nothing out where the model was cut off. A call without an answer would be refused by the next call's provider. */
  dropped(why: string): ToolError[] {
    return [...this.open.values()]
      .filter(({ toolCallId }) => !this.asking.has(toolCallId))
      .map(({ toolCallId, toolName, input }) => {
        return { type: 'tool-error', toolCallId, toolName, input, error: new Error(why), dynamic: true }
      })
  }
}

function failing(errors: readonly ToolError[]): ModelMessage[] {
  if (errors.length === 0) return []
  const content = errors.map(({ toolCallId, toolName, error }) => {
    const output = { type: 'error-text' as const, value: (error as Error).message }
    return { type: 'tool-result' as const, toolCallId, toolName, output }
  })
  return [{ role: 'tool', content }]
}

function tellOf(part: Part, call: number, { tell }: Listener): void {
  if (part.type === 'tool-call') {
    tell({ type: 'tool_called', call, tool: part.toolName, id: part.toolCallId, input: part.input })
  } else if (part.type === 'tool-result' && !part.preliminary) {
    tell({ type: 'tool_answered', call, tool: part.toolName, id: part.toolCallId, output: part.output })
  } else if (part.type === 'tool-error') {
    const error = part.error instanceof Error ? part.error.message : String(part.error)
    tell({ type: 'tool_failed', call, tool: part.toolName, id: part.toolCallId, error })
  }
}

/** Whether whoever shows the turn should see this part: each call begins and ends for itself, and interim texts are not the answer. */
function isShown({ type }: Part, answer: boolean): boolean {
  if (type === 'text-start' || type === 'text-delta' || type === 'text-end') return answer
  return type !== 'start' && type !== 'finish' && type !== 'raw'
}
