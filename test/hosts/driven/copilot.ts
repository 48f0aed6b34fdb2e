import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, put } from './host.ts'

export const copilot: DrivenHost = {
  name: 'copilot',
  model: chatModel,
  session: /--resume=(\S+)/,

  init: [],
  prepare: ({ home, project }) => put(home, '.copilot/config.json', { trusted_folders: [project] }),

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@github/copilot/npm-loader.js'),
    '-p',
    prompt,
    ...(resumed === undefined ? [] : [`--resume=${resumed}`]),
    '--allow-all-tools',
  ],

  env: model => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: model,
    COPILOT_PROVIDER_API_KEY: 'nobody',
    COPILOT_MODEL: 'scripted',
  }),
}
