import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, PUNCHLIST, put } from './host.ts'

const EVENTS = ['Stop', 'SubagentStop', 'SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreCompact']
const TODOS = ['TodoCreated', 'TodoCompleted']

export const qwen: DrivenHost = {
  name: 'qwen',
  model: chatModel,
  session: /"session_id":"([^"]+)"/,

  prepare({ home }) {
    const hook = { type: 'command', command: [...PUNCHLIST, 'hook', 'qwen'].join(' '), timeout: 20 }
    const [command, ...args] = [...PUNCHLIST, 'mcp']
    put(home, '.qwen/settings.json', {
      hooks: {
        ...Object.fromEntries([...EVENTS, ...TODOS].map(name => [name, [{ hooks: [hook] }]])),
        PostToolUse: [{ matcher: 'todo_write', hooks: [hook] }],
      },
      mcpServers: { punchlist: { command, args, trust: true, alwaysLoadTools: true } },
      tools: { todoWrite: { enabled: true } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
    })
  },

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@qwen-code/qwen-code/cli-entry.js'),
    '-p',
    prompt,
    ...(resumed === undefined ? [] : ['--resume', resumed]),
    '--auth-type',
    'openai',
    '--approval-mode',
    'yolo',
    '--output-format',
    'json',
  ],

  env: model => ({ OPENAI_API_KEY: 'nobody', OPENAI_BASE_URL: model, OPENAI_MODEL: 'scripted' }),
}
