import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Entry, entriesOf, runsIn } from '../../../src/runner/diary.ts'
import { RunState } from '../../../src/runner/state.ts'
import { answer, ended, type Ran, start } from '../../support/cli.ts'
import { scratch } from '../../support/scratch.ts'
import type { Asked, Script } from '../script.ts'
import type { DrivenAgent } from './agents.ts'
import { type Place, PUNCHLIST, put } from './host.ts'

interface ToldTask {
  readonly id: string
  readonly state: string
  readonly verifiedAt: string | null
}

type Of<What extends Entry['what']> = Extract<Entry, { readonly what: What }>

/** A project with a queue, whose tasks a real program does. */
export class Drained {
  readonly #agent: DrivenAgent
  readonly #place: Place
  #model = ''

  /** `settings`: what `punchlist.json` says. */
  constructor(agent: DrivenAgent, settings: object) {
    const home = scratch()
    this.#agent = agent
    this.#place = { home, project: join(home, 'project') }
    mkdirSync(this.#place.project)
    put(this.#place.project, 'punchlist.json', settings)
    mkdirSync(join(home, 'bin'))
    symlinkSync(PUNCHLIST[1], join(home, 'bin/punchlist'))
    const launcher = join(home, 'bin', agent.program)
    const words = agent.launched.map(word => `'${word}'`).join(' ')
    // Codex runs commands in a login shell, which has a PATH of its own.
    put(home, '.profile', `PATH='${this.#around().env.PATH}'\n`)
    writeFileSync(launcher, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
  }

  async add(title: string, description = 'As it says.'): Promise<string> {
    const input = JSON.stringify({ items: [{ title, description, expect: 'It is done.' }] })
    const around = { ...this.#around(), input }
    return (await answer<{ task: { id: string } }>(['queue', 'add', '--items', '-'], around)).task.id
  }

  /** Runs until the queue is empty, and gives back what the model was sent. */
  async run(wired: boolean, script: Script, ...flags: string[]): Promise<Ran & { readonly asked: readonly Asked[] }> {
    const { host, more } = this.#agent
    const model = await host.model(script)
    onTestFinished(() => model.close())
    this.#model = model.url
    await this.#punchlist('trust', '--yes')
    host.prepare(this.#place, model.url)
    await this.#punchlist('init', host.name, '--yes', ...(wired ? (host.init ?? []) : ['--remove']))
    const runner = start(['run', '--agent', host.name, ...flags, '--', ...more], this.#around())
    onTestFinished(() => void runner.kill('SIGKILL'))
    runner.stdin!.end()
    return { ...(await ended(runner)), asked: model.asked }
  }

  async tasks(): Promise<readonly ToldTask[]> {
    return (await this.#punchlist<{ tasks: readonly ToldTask[] }>('queue', 'list', '--all')).tasks
  }

  /** The items of the plan for a task, which is its agent's session's where that one tells nobody of the task. */
  async plan(task: string): Promise<string[][]> {
    const named = [task, ...this.#sessionsIn(task)]
    const plans = await Promise.all(
      named.map(async conversation => {
        const list = ['plan', 'list', '--status', 'all', '--conversation', conversation]
        return (await this.#punchlist<{ items: readonly { title: string; status: string }[] }>(...list)).items
      }),
    )
    return plans.flat().map(({ title, status }) => [title, status])
  }

  /** Ends the agent that is at a task as the kernel would. */
  kill(task: string): void {
    process.kill(this.#told(task, 'agent_started').at(-1)!.pid!, 'SIGKILL')
  }

  /** Which session each start of an agent carried on; null where it was begun. */
  sessions(task: string): (string | null)[] {
    return this.#told(task, 'agent_started').map(({ session }) => session)
  }

  attempts(task: string): number[] {
    return [...new Set(this.#told(task, 'agent_started').map(({ attempt }) => attempt))]
  }

  ends(task: string): (string | number | null)[] {
    return this.#told(task, 'agent_ended').map(({ exit, signal }) => signal ?? exit)
  }

  wards(task: string): (boolean | null)[] {
    return this.#told(task, 'wards').map(({ passed }) => passed)
  }

  ended(task: string): Entry | undefined {
    return this.#told(task, 'ended').at(-1)
  }

  /** What the agent printed, attempt by attempt. */
  printed(task: string): string[] {
    const queue = join(this.#place.project, 'coordination')
    const folder = ['completed', 'error']
      .map(state => join(queue, state))
      .filter(state => existsSync(state))
      .flatMap(state => readdirSync(state).map(name => join(state, name)))
      .find(name => basename(name).startsWith(task))!
    return readdirSync(join(folder, 'artifacts'))
      .filter(name => name.startsWith('attempt_'))
      .toSorted()
      .map(name => readFileSync(join(folder, 'artifacts', name), 'utf8'))
  }

  #sessionsIn(task: string): string[] {
    return [...new Set(this.printed(task).flatMap(text => this.#agent.session.exec(text)?.[1] ?? []))]
  }

  #told<What extends Entry['what']>(task: string, what: What): Of<What>[] {
    const state = new RunState(this.#place.project, this.#seal())
    return runsIn(state)
      .flatMap(name => entriesOf(state, name))
      .filter((entry): entry is Of<What> => entry.what === what && 'task' in entry && entry.task === task)
  }

  /** What the program has sealed its files with; the queue's own folder has a seal of its own. */
  #seal(): string {
    const folder = join(this.#place.home, '.local/state/punchlist/workspaces')
    const records = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))
    const sealed = records.map(text => JSON.parse(text) as { root: string; seal: string })
    return sealed.find(({ root }) => root === realpathSync(this.#place.project))!.seal
  }

  async #punchlist<T>(...args: string[]): Promise<T> {
    return await answer<T>(args, this.#around())
  }

  #around() {
    const { home, project } = this.#place
    const PATH = [join(home, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter)
    const env = { PATH, HOME: home, USER: 'tester', LANG: 'C.UTF-8', TMPDIR: home, TERM: 'dumb' }
    return { cwd: project, env: { ...env, ...this.#agent.host.env(this.#model) } }
  }
}
