import { join } from 'node:path'
import { geminiModel } from '../models/gemini.ts'
import { type DrivenHost, PROGRAMS, put } from './host.ts'

export const gemini: DrivenHost = {
  name: 'gemini',
  model: geminiModel,
  session: /"session_id": "([^"]+)"/,

  init: [],
  prepare({ home }) {
    put(home, '.gemini/settings.json', {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
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
