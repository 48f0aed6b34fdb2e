import { record, text } from './reading.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The field of an input by which a plugin of ours tells our server which session a call belongs to. */
export const SCOPE_FIELD = 'punchlist_scope'

/** One call of a tool, as far as the host and not the model speaks in it. */
export interface HostCall {
  /** What the host adds to every request. */
  readonly meta: unknown
  /** What was sent as input: a plugin of ours adds a sealed scope to what the model wrote. */
  readonly sent: unknown
}

/** The conversation that somebody has named for everything that is started there: it comes before any session of a host. */
export function conversationNamed(env: Environment): string | undefined {
  return text(env['PUNCHLIST_CONVERSATION']) ?? text(env['PUNCHLIST_SESSION'])
}

/** What hosts put into the environment of the programs they start. */
const SESSION_VARIABLES = ['CLAUDE_CODE_SESSION_ID', 'QWEN_CODE_SESSION_ID', 'COPILOT_AGENT_SESSION_ID']

/** The session that a host started this process in, where it says so in the environment. */
export function sessionFrom(env: Environment): string | undefined {
  return SESSION_VARIABLES.map(name => text(env[name])).find(Boolean)
}

/** The session that a host means with one call of a tool; undefined where the call does not say. */
export function sessionOfCall(env: Environment, { meta, sent }: HostCall): string | undefined {
  const told = record(meta)
  const codex = record(told['x-codex-turn-metadata'])
  return text(codex['session_id']) ?? text(codex['thread_id']) ?? unsealed(env, text(record(sent)[SCOPE_FIELD]))
}

/**
 * A scope that a plugin in the host has sealed with a key that only it and this
 * server know: a model that writes such a field itself is not believed.
 */
function unsealed(env: Environment, scope: string | undefined): string | undefined {
  const key = text(env['PUNCHLIST_SCOPE_KEY'])
  const dot = scope?.lastIndexOf('.') ?? -1
  if (key === undefined || scope === undefined || dot < 1) return undefined
  const { createHmac, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const session = scope.slice(0, dot)
  const seal = createHmac('sha256', key).update(session).digest()
  const given = Buffer.from(scope.slice(dot + 1), 'base64url')
  return given.length === seal.length && timingSafeEqual(given, seal) ? session : undefined
}
