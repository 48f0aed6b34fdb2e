import { Problem } from '../core/problem.ts'
import { redacted } from '../core/text.ts'

/** A word for what went wrong that there are few of: a problem's code, the status of a provider's answer, an error's name. */
export function errorType(error: unknown): string {
  if (error instanceof Problem) return error.code
  if (!(error instanceof Error)) return '_OTHER'
  // An error without a name of its own tells of another: a refusal, what a worker threw. After several attempts the last counts.
  if (error.name === 'Error' && error.cause instanceof Error) return errorType(error.cause)
  if ('lastError' in error && error.lastError instanceof Error) return errorType(error.lastError)
  if ('statusCode' in error && typeof error.statusCode === 'number') return String(error.statusCode)
  return error.name
}

/** An error as it is recorded: messages quote addresses and headers. */
export function exceptionOf(error: unknown): { name: string; message: string; stack?: string } {
  if (!(error instanceof Error)) return { name: errorType(error), message: redacted(String(error)) }
  const { name, message, stack } = error
  return { name, message: redacted(message), ...(stack === undefined ? {} : { stack: redacted(stack) }) }
}
