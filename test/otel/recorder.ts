import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, ROOT_CONTEXT, type Tracer } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

export interface Recorder {
  readonly tracer: Tracer
  /** Spans that have begun and not ended. */
  readonly open: Set<string>
  /** What was exported, in the order in which it ended. */
  spans(): Promise<ReadableSpan[]>
  /** The same as a tree: each by its name, below the one it hangs from, in the order in which they began. */
  tree(): Promise<string[]>
}

export function recorder(): Recorder {
  const exporter = new InMemorySpanExporter()
  const open = new Set<string>()
  const begun: string[] = []
  const counting: SpanProcessor = {
    onStart: span => {
      open.add(span.spanContext().spanId)
      begun.push(span.spanContext().spanId)
    },
    onEnd: span => void open.delete(span.spanContext().spanId),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  }
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter), counting] })
  const spans = async () => {
    await provider.forceFlush()
    return exporter.getFinishedSpans()
  }
  return { tracer: provider.getTracer('test'), open, spans, tree: async () => treeOf(await spans(), begun) }
}

/** Spans tell the time in whole milliseconds: what began first is known from elsewhere. */
function treeOf(spans: readonly ReadableSpan[], begun: readonly string[]): string[] {
  const byId = new Map(spans.map(span => [span.spanContext().spanId, span]))
  const ordered = begun.flatMap(id => byId.get(id) ?? [])
  const below = (parent: string | undefined, depth: number): string[] =>
    ordered
      .filter(({ parentSpanContext: up }) => (up && byId.has(up.spanId) ? up.spanId : undefined) === parent)
      .flatMap(span => [`${'  '.repeat(depth)}${span.name}`, ...below(span.spanContext().spanId, depth + 1)])
  return below(undefined, 0)
}

/** What applications register: the active context follows asynchronous work. */
export class FollowingContext implements ContextManager {
  private readonly storage = new AsyncLocalStorage<Context>()

  active(): Context {
    return this.storage.getStore() ?? ROOT_CONTEXT
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    work: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.storage.run(context, () => work.call(thisArg, ...args))
  }

  bind<T>(_: Context, target: T): T {
    return target
  }

  enable(): this {
    return this
  }

  disable(): this {
    this.storage.disable()
    return this
  }
}
