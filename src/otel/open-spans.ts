import { context, type Span, SpanStatusCode, type Tracer, trace as traces } from '@opentelemetry/api'
import { errorType, exceptionOf } from './failing.ts'
import type { SpanOf } from './spans.ts'

/** What every trace of the supervisor has. */
export interface AnyTrace {
  readonly parent?: object
  error?: unknown
  within?: <T>(work: () => T) => T
}

/** The spans of what is under way. */
export class OpenSpans {
  private readonly tracer: Tracer
  private readonly captureContent: boolean
  private readonly spans = new Map<AnyTrace, Span>()

  constructor(tracer: Tracer, captureContent: boolean) {
    this.tracer = tracer
    this.captureContent = captureContent
  }

  begin(trace: AnyTrace, look: SpanOf<AnyTrace>): void {
    const around = context.active()
    const parent = trace.parent && this.spans.get(trace.parent)
    const outside = parent ? traces.setSpan(around, parent) : around
    const attributes = { ...look.begun(trace), ...(this.captureContent ? look.content(trace) : {}) }
    const span = this.tracer.startSpan(look.name(trace), { kind: look.kind, attributes }, outside)
    this.spans.set(trace, span)
    // So that what the work itself traces, a request over HTTP for one, hangs from this span.
    const inside = traces.setSpan(outside, span)
    const { within } = trace
    trace.within = work => context.with(inside, () => (within ? within(work) : work()))
  }

  end(trace: AnyTrace, look: SpanOf<AnyTrace>): void {
    const span = this.spans.get(trace)
    if (!span) return
    this.spans.delete(trace)
    // A tool that does not listen to the signal may go on for long after its turn has failed.
    for (const [other, inner] of this.spans) if (other.parent === trace) this.endWith(trace, other, inner)
    try {
      span.setAttributes({ ...look.ended(trace), ...(this.captureContent ? look.content(trace) : {}) })
      if ('error' in trace) fail(span, trace.error)
    } finally {
      span.end()
    }
  }

  endAll(): void {
    // The inner ones are younger.
    for (const span of [...this.spans.values()].toReversed()) span.end()
    this.spans.clear()
  }

  private endWith(turn: AnyTrace, inner: AnyTrace, span: Span): void {
    this.spans.delete(inner)
    if ('error' in turn) fail(span, turn.error)
    span.end()
  }
}

function fail(span: Span, error: unknown): void {
  const exception = exceptionOf(error)
  span.recordException(exception)
  span.setAttribute('error.type', errorType(error))
  span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message })
}
