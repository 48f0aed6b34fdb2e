import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, vi } from 'vitest'
import type { Client } from '../../src/hosts/opencode/client.ts'
import { type Hooks, punchlist as plugin } from '../../src/hosts/opencode/plugin.ts'
import { answer } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const LAUNCHER = [process.execPath, join(import.meta.dirname, '../../bin/punchlist.js')]
export const SESSION = 'ses_1'

interface Setting {
  readonly countdownSeconds?: number
  readonly items?: readonly string[]
}

/** OpenCode with the plugin in a folder of its own, and a plan in the session. */
export async function started({ countdownSeconds = 0, items = ['Write it', 'Test it'] }: Setting = {}) {
  const cwd = scratch()
  await answer(['init'], { cwd })
  writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ continuation: { countdownSeconds } }))
  const run = async <T = Info>(...args: string[]) => await answer<T>(['--conversation', SESSION, ...args], { cwd })
  if (items.length > 0) await run('plan', 'add', ...items)
  const host = new PlayedOpenCode()
  host.messages.push(
    { sessionID: SESSION, role: 'user', agent: 'build', model: { providerID: 'p', modelID: 'm' } },
    { sessionID: SESSION, role: 'assistant', agent: 'build', providerID: 'p', modelID: 'm' },
  )
  /** How often the session was sent on since the user last spoke, as the store has it. */
  const injections = async () => {
    const { continuation } = await run<{ continuation: { session: string; injections: number }[] }>('status')
    return continuation.find(({ session }) => session === SESSION)?.injections
  }
  return { cwd, run, injections, host, hooks: await loaded(host, cwd) }
}

const running: Hooks[] = []

export async function loaded(host: PlayedOpenCode, directory: string, command: readonly string[] = LAUNCHER) {
  const hooks = await plugin({ client: host.client, directory }, { command })
  running.push(hooks)
  return hooks
}

afterEach(async () => {
  for (const hooks of running.splice(0)) await hooks.dispose()
})

export async function tell(hooks: Hooks, type: string, properties: Info = {}): Promise<void> {
  await hooks.event({ event: { type, properties: { sessionID: SESSION, ...properties } } })
}

export async function says(hooks: Hooks, text: string, more: Info = {}, id = 'msg_9'): Promise<void> {
  const message = { id, role: 'user', sessionID: SESSION, agent: 'build', time: { created: Date.now() } }
  await hooks['chat.message']({ sessionID: SESSION }, { message, parts: [{ type: 'text', text, ...more }] })
}

export type Info = Record<string, unknown>

/** OpenCode's side of a plugin, as far as a plugin can see it: what it would answer, and what it was asked to do. */
export class PlayedOpenCode {
  readonly parents = new Map<string, string>()
  readonly messages: Info[] = []
  readonly busy = new Set<string>()
  agents: Info[] = [{ name: 'build', permission: [{ permission: '*', pattern: '*', action: 'allow' }] }]

  readonly prompts: { session: string; body: Info & { parts: { text: string }[] } }[] = []
  readonly toasts: string[] = []
  readonly logs: string[] = []

  readonly client: Client = {
    session: {
      get: async ({ path }) => ({ data: { id: path.id, parentID: this.parents.get(path.id) } }),
      messages: async ({ path }) => ({
        data: this.messages.filter(({ sessionID }) => sessionID === path.id).map(info => ({ info, parts: [] })),
      }),
      status: async () => ({ data: Object.fromEntries([...this.busy].map(id => [id, { type: 'busy' }])) }),
      promptAsync: async ({ path, body }) => {
        this.prompts.push({ session: path.id, body: body as never })
        return {}
      },
    },
    app: {
      agents: async () => ({ data: this.agents }),
      log: async ({ body }) => void this.logs.push(String((body as Info)['message'])),
    },
    tui: { showToast: async ({ body }) => void this.toasts.push(String((body as Info)['message'])) },
  }

  /** When the plugin has said this of a session. */
  async logged(...words: string[]): Promise<void> {
    await vi.waitFor(
      () => {
        if (!this.logs.some(line => words.every(word => line.includes(word))))
          throw new Error(`never said ${words.join(' ')}:\n${this.logs.join('\n')}`)
      },
      { timeout: 20_000, interval: 20 },
    )
  }

  async prompted(times: number): Promise<void> {
    await vi.waitFor(
      () => {
        if (this.prompts.length < times) throw new Error(`prompted ${this.prompts.length}:\n${this.logs.join('\n')}`)
      },
      { timeout: 20_000, interval: 20 },
    )
  }
}
