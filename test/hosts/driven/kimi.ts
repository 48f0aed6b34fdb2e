import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, put } from './host.ts'

export const kimi: DrivenHost = {
  name: 'kimi',
  model: chatModel,
  session: /kimi -r (\S+)/,
  limit: 1,

  init: ['--user'],
  prepare: ({ home }, model) => put(home, '.kimi-code/config.toml', settings(model)),

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
`
}
