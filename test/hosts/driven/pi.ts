import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, put } from './host.ts'

const EXTENSION = join(import.meta.dirname, '../../../dist/pi.js')

export const pi: DrivenHost = {
  name: 'pi',
  model: chatModel,
  session: /"type":"session".*?"id":"([^"]+)"/,

  prepare({ home }, model) {
    const provider = { baseUrl: model, api: 'openai-completions', apiKey: 'nobody', models: [{ id: 'scripted' }] }
    put(home, '.pi/agent/models.json', { providers: { scripted: provider } })
    put(home, '.pi/agent/settings.json', { defaultProvider: 'scripted', defaultModel: 'scripted' })
    put(home, '.pi/agent/extensions/punchlist.ts', `export { default } from ${JSON.stringify(EXTENSION)}\n`)
  },

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@earendil-works/pi-coding-agent/dist/bundle/cli.js'),
    '--mode',
    'json',
    ...(resumed === undefined ? [] : ['--session', resumed]),
    prompt,
  ],

  env: () => ({ PI_OFFLINE: '1' }),
}
