import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, put } from './host.ts'

export const qwen: DrivenHost = {
  name: 'qwen',
  model: chatModel,
  session: /"session_id":"([^"]+)"/,

  init: [],
  prepare({ home }) {
    put(home, '.qwen/settings.json', {
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
