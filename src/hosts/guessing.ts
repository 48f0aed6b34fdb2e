type Known = Readonly<Record<string, unknown>>

/**
 * Which host calls, where one file of hooks serves several: `punchlist hook auto`.
 *
 * A host that was started from inside another one inherits its environment, so
 * a variable alone proves nothing. A session that is named by the variable and
 * by the event alike does, and so do the folders that only hooks are told.
 */
export function hostFrom(env: Readonly<Record<string, string | undefined>>, payload: Known): string {
  const session = payload['session_id'] ?? payload['sessionId']
  const named = SESSIONS.find(([variable]) => typeof session === 'string' && env[variable] === session)
  if (named) return named[1]
  if ('sessionId' in payload || env['COPILOT_PROJECT_DIR'] !== undefined) return 'copilot'
  const folder = env['PLUGIN_ROOT']
  if ('turn_id' in payload || (folder !== undefined && folder === env['CLAUDE_PLUGIN_ROOT'])) return 'codex'
  return 'claude-code'
}

/** Copilot tells its session to servers alone, Codex nobody. */
const SESSIONS = [
  ['CLAUDE_CODE_SESSION_ID', 'claude-code'],
  ['QWEN_CODE_SESSION_ID', 'qwen'],
  ['GEMINI_SESSION_ID', 'gemini'],
  ['COPILOT_AGENT_SESSION_ID', 'copilot'],
] as const
