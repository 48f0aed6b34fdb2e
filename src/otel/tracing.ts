import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { diag, type Tracer, trace } from '@opentelemetry/api'
import { CHANNELS } from '../supervisor/events.ts'
import { type AnyTrace, OpenSpans } from './open-spans.ts'
import { SPANS, type SpanOf } from './spans.ts'

export interface TraceOptions {
  /** Who makes the spans; the tracer `punchlist` of the registered provider if absent. */
  readonly tracer?: Tracer
  /** Puts what went in and what came out into the spans, credentials taken out; left out if absent. */
  readonly captureContent?: boolean
}

/** Makes spans of what supervisors do, from now on. Gives back how to stop: what is still open is ended then. */
export function traceSupervisor(options: TraceOptions = {}): () => void {
  const { tracer = trace.getTracer('punchlist'), captureContent = false } = options
  const open = new OpenSpans(tracer, captureContent)
  const leave = (Object.keys(CHANNELS) as (keyof typeof CHANNELS)[]).map(name =>
    follow(CHANNELS[name], open, SPANS[name] as SpanOf<AnyTrace>),
  )
  return () => {
    for (const one of leave) one()
    quietly(() => open.endAll())
  }
}

function follow(channel: string, open: OpenSpans, span: SpanOf<AnyTrace>): () => void {
  const started = (message: unknown) => quietly(() => open.begin(message as AnyTrace, span))
  const ended = (message: unknown) => quietly(() => open.end(message as AnyTrace, span))
  subscribe(`tracing:${channel}:start`, started)
  subscribe(`tracing:${channel}:asyncEnd`, ended)
  return () => {
    unsubscribe(`tracing:${channel}:start`, started)
    unsubscribe(`tracing:${channel}:asyncEnd`, ended)
  }
}

/** What a subscriber throws ends the process: a tracer that fails must not. */
function quietly(work: () => void): void {
  try {
    work()
  } catch (error) {
    diag.error('punchlist: a span could not be written', error)
  }
}
