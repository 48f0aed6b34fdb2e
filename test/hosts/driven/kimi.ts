import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, PUNCHLIST, put } from './host.ts'

const EVENTS = ['Stop', 'SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreCompact', 'PreToolUse']

export const kimi: DrivenHost = {
  name: 'kimi',
  model: chatModel,
  session: /kimi -r (\S+)/,
  limit: 1,

  prepare({ home }, model) {
    const [command, ...args] = [...PUNCHLIST, 'mcp']
    put(home, '.kimi-code/config.toml', settings(model))
    put(home, '.kimi-code/mcp.json', { mcpServers: { punchlist: { command, args } } })
  },

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@moonshot-ai/kimi-code/dist/main.mjs'),
    ...(resumed === undefined ? [] : ['-r', resumed]),
    '-p',
    prompt,
  ],

  env: () => ({}),
}

function settings(model: string): string {
  const hook = [...PUNCHLIST, 'hook', 'kimi'].join(' ')
  const hooks = EVENTS.map(event => `[[hooks]]\nevent = "${event}"\ncommand = '${hook}'\ntimeout = 20\n`)
  return `default_model = "scripted"
telemetry = false
[providers.scripted]
type = "openai"
base_url = "${model}"
api_key = "nobody"
[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 100000
${hooks.join('')}`
}
