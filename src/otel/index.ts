export { type TraceOptions, traceSupervisor } from './tracing.ts'
