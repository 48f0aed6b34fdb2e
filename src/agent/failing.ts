import { AISDKError, APICallError, RetryError } from 'ai'
import { Problem } from '../core/problem.ts'
import { harmlessLine, redacted } from '../core/text.ts'
import { concealing } from './concealing.ts'
import type { Endpoint } from './endpoint.ts'

const NOBODY_THERE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no such host',
}

/** A connection that cannot be made, and will not be by trying again at once. */
export function unreachable(error: unknown, endpoint: Endpoint): Problem | undefined {
  const code = codesIn(error).find(one => Object.hasOwn(NOBODY_THERE, one))
  if (code === undefined) return undefined
  const { host, urlVariable } = endpoint
  const hint = `Start the model's server, or set ${urlVariable} to the URL where it is.`
  return failed(endpoint, `${host} cannot be reached: ${NOBODY_THERE[code]}`, hint, { reason: code })
}

/** What the endpoint did wrong; undefined where it was not the endpoint. */
export function modelProblem(error: unknown, endpoint: Endpoint): Problem | undefined {
  if (error instanceof Problem) return error
  if (RetryError.isInstance(error)) return modelProblem(error.lastError, endpoint)
  if (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode >= 400) {
    return refused(error.statusCode, error, endpoint)
  }
  const { host, urlVariable } = endpoint
  if (isBroken(error)) {
    const hint = 'Try again; the plan is as it stood.'
    return failed(endpoint, `There is no connection to ${host}: ${said(rootOf(error), endpoint)}`, hint, {})
  }
  if (AISDKError.isInstance(error) || !(error instanceof Error)) {
    const hint = `Try again. If it stays so, see whether ${urlVariable} is the URL of an endpoint for chat completions.`
    return failed(endpoint, `${host} gave an answer that is none: ${said(error, endpoint)}`, hint, {})
  }
  return undefined
}

export function gaveNoAnswer(endpoint: Endpoint, within: string): Problem {
  const hint = 'Try again, with a longer --timeout if the model is slow.'
  return failed(endpoint, `${endpoint.host} gave no answer within ${within}`, hint, {})
}

function refused(status: number, error: APICallError, endpoint: Endpoint): Problem {
  const { host, model, keyVariable, urlVariable } = endpoint
  const hints: Readonly<Record<number, string>> = {
    401: `Set ${keyVariable} to a key that is valid there.`,
    403: `Set ${keyVariable} to a key that may use ${model}.`,
    404: `See whether ${urlVariable} and the name of the model, ${model}, are right.`,
    408: 'Try again later.',
    429: 'Wait and try again, or use another model: it has had too many requests, or the credit is used up.',
  }
  const hint =
    hints[status] ??
    (status >= 500
      ? 'Try again later, or use another model.'
      : 'Try another model: this one does not take the request.')
  return failed(endpoint, `${host} answered ${status}: ${said(reasonIn(error), endpoint)}`, hint, { status })
}

/** Why, also where the endpoint says it in another form than OpenAI: Mistral and vLLM put no `error` around it. */
function reasonIn({ message, responseBody = '' }: APICallError): string {
  try {
    const { message: own, detail, error } = JSON.parse(responseBody) as Readonly<Record<string, unknown>>
    return [own, detail, error].filter(one => typeof one === 'string').find(one => one.trim() !== '') ?? message
  } catch {
    return message
  }
}

function failed({ host }: Endpoint, fact: string, hint: string, details: Readonly<Record<string, unknown>>): Problem {
  return new Problem('model_failed', fact, hint, { host, ...details })
}

/** The first words of it, without what nobody should see: endpoints like to repeat the key. */
function said(error: unknown, { key }: Endpoint): string {
  const text = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
  const line = harmlessLine(redacted(concealing(key)(text))).trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line || 'no reason was given'
}

/** Whether it is the network that failed. The SDK wraps that in errors of its own. */
function isBroken(error: unknown): boolean {
  if (codesIn(error).some(code => /^(?:UND_ERR_|E[A-Z]+$)/.test(code))) return true
  if (APICallError.isInstance(error)) return error.statusCode === undefined
  return error instanceof TypeError && /^(?:terminated|fetch failed)$/.test(error.message)
}

function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error
}

function codesIn(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return []
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown }
  const inner = [cause, ...(Array.isArray(errors) ? (errors as unknown[]) : [])].flatMap(codesIn)
  return typeof code === 'string' ? [code, ...inner] : inner
}
