import { join } from 'node:path'
import { geminiModel } from '../models/gemini.ts'
import { type DrivenHost, PROGRAMS, PUNCHLIST, put } from './host.ts'

const EVENTS = ['AfterAgent', 'BeforeAgent', 'SessionStart', 'SessionEnd', 'PreCompress']

export const gemini: DrivenHost = {
  name: 'gemini',
  model: geminiModel,
  session: /"session_id": "([^"]+)"/,

  prepare({ home, project }) {
    const hook = { name: 'punchlist', type: 'command', command: [...PUNCHLIST, 'hook', 'gemini'].join(' ') }
    const [command, ...args] = [...PUNCHLIST, 'mcp']
    put(home, '.gemini/settings.json', {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    })
    put(project, '.gemini/settings.json', {
      hooks: {
        ...Object.fromEntries(EVENTS.map(name => [name, [{ hooks: [hook] }]])),
        AfterTool: [{ matcher: 'write_todos', hooks: [hook] }],
      },
      mcpServers: { punchlist: { command, args, trust: true } },
    })
  },

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@google/gemini-cli/bundle/gemini.js'),
    '-p',
    prompt,
    ...(resumed === undefined ? [] : ['--resume', resumed]),
    '--approval-mode',
    'yolo',
    '--output-format',
    'json',
    '-m',
    'gemini-2.5-pro',
  ],

  env: model => ({
    GEMINI_API_KEY: 'nobody',
    GOOGLE_GEMINI_BASE_URL: model,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
}
