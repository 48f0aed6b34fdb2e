import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { vi } from 'vitest'
import { answer } from '../../support/cli.ts'
import { scratch } from '../../support/scratch.ts'
import { chatModel } from '../models/chat.ts'
import type { Script } from '../script.ts'
import { type DrivenHost, native, type Place, PUNCHLIST, put } from './host.ts'

const PROGRAM = join(native('opencode'), 'bin/opencode')

/** One prompt, and the process is over. */
export const opencodeRun: DrivenHost = {
  name: 'opencode',
  model: chatModel,
  session: /"sessionID":"([^"]+)"/,
  prepare: (place, model) => wire(place, model),
  command: (prompt, resumed) => [
    PROGRAM,
    'run',
    '--format',
    'json',
    ...(resumed === undefined ? [] : ['--session', resumed]),
    prompt,
  ],
  env: () => OFFLINE,
}

const OFFLINE = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
}

function wire({ home, project }: Place, model: string): void {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: model, apiKey: 'nobody' },
    models: { scripted: { tool_call: true, limit: { context: 100_000, output: 8_000 } } },
  }
  put(project, 'opencode.json', {
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    provider: { scripted: provider },
  })
  install(project)
  const [node, ...launcher] = PUNCHLIST
  execFileSync(node, [...launcher, 'init', 'opencode', '--yes'], {
    cwd: project,
    env: surroundings(home),
    stdio: 'ignore',
  })
  for (const folder of [join(home, '.config/opencode'), join(project, '.opencode')]) {
    // Where there is a plugin it installs its types, and waits a minute for a network that is not there.
    put(folder, 'package-lock.json', { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } })
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
  }
}

/** The package as a project that depends on it has it. */
function install(project: string): void {
  const modules = join(project, 'node_modules')
  if (existsSync(modules)) return
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(dirname(dirname(PUNCHLIST[1])), join(modules, 'punchlist'))
  symlinkSync('../punchlist/bin/punchlist.js', join(modules, '.bin/punchlist'))
}

function surroundings(home: string): Record<string, string> {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  return { PATH, HOME: home, USER: 'tester', LANG: 'C.UTF-8', TMPDIR: home }
}

/** OpenCode as a server for as many sessions as there are, in as many folders. */
export class OpenCodeServer {
  readonly #home = scratch()
  readonly #child: ChildProcess
  readonly model: Awaited<ReturnType<typeof chatModel>>
  #printed = ''
  #url = ''

  static async start(script: Script): Promise<OpenCodeServer> {
    const server = new OpenCodeServer(await chatModel(script))
    server.#url = await vi.waitFor(() => server.#listening(), { timeout: 60_000, interval: 50 })
    return server
  }

  private constructor(model: OpenCodeServer['model']) {
    this.model = model
    const args = ['serve', '--port', '0', '--hostname', '127.0.0.1', '--print-logs', '--log-level', 'INFO']
    this.#child = spawn(PROGRAM, args, { cwd: this.#home, env: this.#env(), detached: true })
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#printed += text))
  }

  /** A folder with the plugin in it. */
  async project(name: string, countdownSeconds: number): Promise<Project> {
    const folder = join(this.#home, name)
    mkdirSync(folder)
    wire({ home: this.#home, project: folder }, this.model.url)
    put(folder, 'punchlist.json', { continuation: { countdownSeconds } })
    await this.punchlist(folder, 'init')
    return new Project(this, folder)
  }

  async call<T>(folder: string, method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-opencode-directory': folder },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (response.status === 204 ? undefined : await response.json()) as T
  }

  async punchlist<T>(folder: string, ...args: string[]): Promise<T> {
    return await answer<T>(args, { cwd: folder, env: this.#env() })
  }

  /** What happens in a folder from now on, as OpenCode tells it. */
  async listen(folder: string): Promise<Happened[]> {
    const headers = { 'x-opencode-directory': folder }
    const { body } = await fetch(`${this.#url}/event`, { headers })
    const happened: Happened[] = []
    const read = async () => {
      for await (const text of body!.pipeThrough(new TextDecoderStream()))
        for (const [, told] of text.matchAll(/^data: (.*)$/gm)) happened.push(JSON.parse(told!) as Happened)
    }
    // It ends with the server, in the middle of a word.
    read().catch(() => {})
    return happened
  }

  /** When it has been said so, by the plugin for example. */
  async logged(...words: string[]): Promise<void> {
    await vi.waitFor(
      () => {
        if (!this.#printed.split('\n').some(line => words.every(word => line.includes(word))))
          throw new Error(`never said ${words.join(' ')}:\n${this.#printed.slice(-3000)}`)
      },
      { timeout: 40_000, interval: 50 },
    )
  }

  async close(): Promise<void> {
    const over = once(this.#child, 'close')
    process.kill(-this.#child.pid!, 'SIGKILL')
    await over
    await this.model.close()
  }

  #listening(): string {
    const [, url] = /listening on (http:\S+)/.exec(this.#printed) ?? []
    if (url === undefined) throw new Error(`OpenCode does not listen:\n${this.#printed}`)
    return url
  }

  #env(): Record<string, string> {
    return { ...OFFLINE, ...surroundings(this.#home) }
  }
}

interface Happened {
  readonly type: string
  readonly properties: Readonly<Record<string, unknown>>
}

interface Told {
  readonly title: string
  readonly status: string
}

/** A folder that OpenCode works in. */
export class Project {
  readonly #server: OpenCodeServer
  readonly #folder: string

  constructor(server: OpenCodeServer, folder: string) {
    this.#server = server
    this.#folder = folder
  }

  async listen(): Promise<readonly Happened[]> {
    return await this.#server.listen(this.#folder)
  }

  async session(): Promise<string> {
    return (await this.#server.call<{ id: string }>(this.#folder, 'POST', '/session', { title: 'A session' })).id
  }

  /** Settles when the session has answered. */
  async says(session: string, text: string): Promise<void> {
    const parts = [{ type: 'text', text }]
    await this.#server.call(this.#folder, 'POST', `/session/${session}/message`, { parts })
  }

  /** Settles at once. */
  async sends(session: string, text: string): Promise<void> {
    const parts = [{ type: 'text', text }]
    await this.#server.call(this.#folder, 'POST', `/session/${session}/prompt_async`, { parts })
  }

  async abort(session: string): Promise<void> {
    await this.#server.call(this.#folder, 'POST', `/session/${session}/abort`)
  }

  /** When the session has asked the user something, that is turned down. */
  async turnsDown(session: string): Promise<void> {
    const id = await vi.waitFor(
      async () => {
        const asked = await this.#server.call<{ id: string; sessionID: string }[]>(this.#folder, 'GET', '/question')
        const mine = asked.find(({ sessionID }) => sessionID === session)
        if (!mine) throw new Error('nothing was asked')
        return mine.id
      },
      { timeout: 30_000, interval: 50 },
    )
    await this.#server.call(this.#folder, 'POST', `/question/${id}/reject`)
  }

  async compact(session: string): Promise<void> {
    const model = { providerID: 'scripted', modelID: 'scripted' }
    await this.#server.call(this.#folder, 'POST', `/session/${session}/summarize`, model)
  }

  async children(session: string): Promise<readonly { id: string }[]> {
    return await this.#server.call(this.#folder, 'GET', `/session/${session}/children`)
  }

  async statuses(session: string): Promise<string[][]> {
    const list = ['plan', 'list', '--status', 'all', '--conversation', session]
    const { items } = await this.punchlist<{ items: readonly Told[] }>(...list)
    return items.map(({ title, status }) => [title, status])
  }

  async punchlist<T>(...args: string[]): Promise<T> {
    return await this.#server.punchlist<T>(this.#folder, ...args)
  }
}
