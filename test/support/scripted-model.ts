import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'

/** What a scripted model does in one call: says something, calls tools, or fails. */
interface Line {
  readonly text?: string
  readonly calls?: readonly { readonly tool: string; readonly input?: unknown }[]
  readonly fails?: Error
  /** Fails after it has said its text. */
  readonly breaks?: Error
}

type Asked = MockLanguageModelV4['doStreamCalls'][number]
type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer T> ? T : never

/** A line, or one that depends on what the model was sent. */
export type Cue = Line | ((asked: Asked, call: number) => Line | Promise<Line>)

/** A model that says what is written down for it, call by call; the last line again when there are no more. */
export function scripted(...cues: readonly Cue[]): MockLanguageModelV4 {
  let calls = 0
  const next = async (asked: Asked): Promise<Line> => {
    const cue = cues[Math.min(calls++, cues.length - 1)] ?? {}
    const line = typeof cue === 'function' ? await cue(asked, calls) : cue
    if (line.fails) throw line.fails
    return line
  }
  return new MockLanguageModelV4({
    provider: 'scripted',
    modelId: 'actor',
    doStream: async asked => ({ stream: convertArrayToReadableStream(parts(await next(asked), calls)) }),
    doGenerate: async asked => {
      const { text, calls: made = [] } = await next(asked)
      return {
        content: [
          ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
          ...made.map((one, index) => called(one, calls, index)),
        ],
        finishReason: { unified: made.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
        usage: USAGE,
        warnings: [],
      }
    },
  })
}

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}

function called(
  { tool, input = {} }: { readonly tool: string; readonly input?: unknown },
  call: number,
  index: number,
) {
  const sent = typeof input === 'string' ? input : JSON.stringify(input)
  return { type: 'tool-call' as const, toolCallId: `call-${call}-${index}`, toolName: tool, input: sent }
}

function parts({ text, calls = [], breaks }: Line, call: number): Part[] {
  return [
    { type: 'stream-start', warnings: [] },
    ...(text === undefined
      ? []
      : [
          { type: 'text-start' as const, id: 't' },
          ...text.split(/(?<= )/).map(delta => ({ type: 'text-delta' as const, id: 't', delta })),
          { type: 'text-end' as const, id: 't' },
        ]),
    ...calls.map((one, index) => called(one, call, index)),
    ...(breaks
      ? [{ type: 'error' as const, error: breaks }]
      : [
          {
            type: 'finish' as const,
            finishReason: { unified: calls.length > 0 ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
            usage: USAGE,
          },
        ]),
  ]
}

/** The texts of what a model was sent, message by message. */
export function textsIn({ prompt }: Asked): string[] {
  return prompt.map(({ content }) =>
    typeof content === 'string'
      ? content
      : content.map(part => ('text' in part ? part.text : JSON.stringify(part))).join('\n'),
  )
}

/** The ids of the items in the plan that a model was shown last. */
export function idsIn(asked: Asked): string[] {
  return [...(textsIn(asked).at(-1) ?? '').matchAll(/ id (\S+)$/gm)].map(([, id]) => id!)
}
