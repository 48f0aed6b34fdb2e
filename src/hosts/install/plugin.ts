import { hookCommand } from './command.ts'
import type { Events } from './hooks.ts'

/**
 * The hooks of the plugin: `plugin/hooks/` is this. `hooks.json` serves Claude
 * Code, Copilot and Qwen, so which one calls is found out when it does; Claude
 * Code names the events, because it warns of any that it does not know. Codex
 * is told of its own file.
 */
export function pluginHooks(): Readonly<Record<'hooks.json' | 'codex.json', unknown>> {
  return { 'hooks.json': hooksOf('auto', SHARED), 'codex.json': hooksOf('codex', CODEX) }
}

function hooksOf(host: string, events: Events): unknown {
  const groups = Object.entries(events).map(([event, tools]) => {
    // More than 3 s is cut down for these by Codex, with a warning.
    const timeout = event === 'SessionEnd' || event === 'Interrupt' ? 3 : 20
    const handler = { type: 'command', command: hookCommand(host, 'user'), timeout }
    return [event, [{ ...(tools === null ? {} : { matcher: tools }), hooks: [handler] }]]
  })
  return { hooks: Object.fromEntries(groups) }
}

const COMMON = {
  Stop: null,
  SubagentStop: null,
  SessionStart: null,
  SessionEnd: null,
  UserPromptSubmit: null,
}

const SHARED: Events = {
  ...COMMON,
  PreCompact: null,
  StopFailure: null,
  TaskCreated: null,
  TaskCompleted: null,
  PostToolUse: 'TodoWrite|TaskCreate|TaskUpdate|todo_write',
}

const CODEX: Events = { ...COMMON, Interrupt: null, PostToolUse: 'update_plan' }
