import { join } from 'node:path'
import { responsesModel } from '../models/responses.ts'
import { type DrivenHost, PROGRAMS, PUNCHLIST, put } from './host.ts'

const EVENTS = ['Stop', 'SubagentStop', 'SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreCompact', 'PostToolUse']

export const codex: DrivenHost = {
  name: 'codex',
  model: responsesModel,
  session: /"thread_id":"([^"]+)"/,

  prepare({ home }, model) {
    const hooks = [{ hooks: [{ type: 'command', command: [...PUNCHLIST, 'hook', 'codex'].join(' ') }] }]
    const [command, ...args] = [...PUNCHLIST, 'mcp']
    put(home, '.codex/hooks.json', { hooks: Object.fromEntries(EVENTS.map(name => [name, hooks])) })
    put(home, '.codex/config.toml', settings(model, command, args))
  },

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@openai/codex/bin/codex.js'),
    'exec',
    ...(resumed === undefined ? [] : ['resume']),
    '--json',
    '--skip-git-repo-check',
    '--disable',
    'plugins',
    '--dangerously-bypass-hook-trust',
    '--dangerously-bypass-approvals-and-sandbox',
    ...(resumed === undefined ? [] : [resumed]),
    prompt,
  ],

  env: () => ({ SCRIPTED_KEY: 'nobody' }),
}

/** Its list is offered to models of its own only where it is switched on. */
function settings(model: string, command: string | undefined, args: readonly string[]): string {
  return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[analytics]
enabled = false
[tools]
update_plan = { enabled = true }
[mcp_servers.punchlist]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
`
}
