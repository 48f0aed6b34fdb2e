import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, PUNCHLIST, put } from './host.ts'

const EVENTS = ['Stop', 'SubagentStop', 'SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreCompact']

export const copilot: DrivenHost = {
  name: 'copilot',
  model: chatModel,
  session: /--resume=(\S+)/,

  prepare({ home }) {
    const hooks = [{ type: 'command', command: [...PUNCHLIST, 'hook', 'copilot'].join(' '), timeoutSec: 20 }]
    const [command, ...args] = [...PUNCHLIST, 'mcp']
    put(home, '.copilot/hooks/punchlist.json', {
      version: 1,
      hooks: Object.fromEntries(EVENTS.map(name => [name, hooks])),
    })
    put(home, '.copilot/mcp-config.json', { mcpServers: { punchlist: { type: 'local', command, args, tools: ['*'] } } })
  },

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@github/copilot/npm-loader.js'),
    '-p',
    prompt,
    ...(resumed === undefined ? [] : [`--resume=${resumed}`]),
    '--allow-all-tools',
    ...(resumed === undefined ? ['--trust-folder'] : []),
  ],

  env: model => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: model,
    COPILOT_PROVIDER_API_KEY: 'nobody',
    COPILOT_MODEL: 'scripted',
  }),
}
