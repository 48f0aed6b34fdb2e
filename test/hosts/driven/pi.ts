import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { chatModel } from '../models/chat.ts'
import { type DrivenHost, PROGRAMS, PUNCHLIST, put } from './host.ts'

export const pi: DrivenHost = {
  name: 'pi',
  model: chatModel,
  session: /"type":"session".*?"id":"([^"]+)"/,

  prepare({ home, project }, model) {
    const provider = { baseUrl: model, api: 'openai-completions', apiKey: 'nobody', models: [{ id: 'scripted' }] }
    put(home, '.pi/agent/models.json', { providers: { scripted: provider } })
    put(home, '.pi/agent/settings.json', {
      defaultProvider: 'scripted',
      defaultModel: 'scripted',
      // What is short is not compacted otherwise.
      compaction: { keepRecentTokens: 100 },
    })
    const [node, ...launcher] = PUNCHLIST
    execFileSync(node, [...launcher, 'init', 'pi', '--user', '--yes'], {
      cwd: project,
      env: { HOME: home },
      stdio: 'ignore',
    })
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
