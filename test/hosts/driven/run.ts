import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { answer, ended, type Ran } from '../../support/cli.ts'
import { scratch } from '../../support/scratch.ts'
import type { Asked, Script } from '../script.ts'
import { type DrivenHost, type Place, PUNCHLIST } from './host.ts'

/** What came of one run of a host. */
export interface HostRan {
  readonly session: string
  /** What its model was sent, request by request. */
  readonly asked: readonly Asked[]
  readonly stdout: string
  readonly stderr: string
}

export interface ToldItem {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly needs: string | null
}

const LONGEST_MS = 60_000

/** A host in a home and a project of its own, until the test has ended. */
export class Bench {
  readonly place: Place
  readonly host: DrivenHost
  #env: Readonly<Record<string, string>> = {}

  constructor(host: DrivenHost) {
    const home = scratch()
    this.host = host
    this.place = { home, project: join(home, 'project') }
    mkdirSync(this.place.project)
    mkdirSync(join(home, 'bin'))
    symlinkSync(PUNCHLIST[1], join(home, 'bin/punchlist'))
  }

  /** As a colleague has it who never installed punchlist; what is wired was wired by somebody else. */
  without(): this {
    rmSync(join(this.place.home, 'bin/punchlist'))
    return this
  }

  /** What the host's environment says besides. */
  with(env: Readonly<Record<string, string>>): this {
    this.#env = env
    return this
  }

  /** One prompt, from the start of the program to its end. */
  async run(prompt: string, script: Script, resumed?: string): Promise<HostRan> {
    return await this.#drive(script, this.host.command(prompt, resumed), child => void child.stdin!.end())
  }

  /** Several prompts to one process, each when the one before has been answered. */
  async talk(prompts: readonly string[], script: Script): Promise<HostRan> {
    const { command, line, answered } = this.host.talk!
    const waiting = [...prompts]
    const next = (child: ChildProcess) => {
      const prompt = waiting.shift()
      if (prompt === undefined) child.stdin!.end()
      else child.stdin!.write(`${line(prompt)}\n`)
    }
    return await this.#drive(script, command, child => {
      createInterface(child.stdout!).on('line', said => void (said.includes(answered) && next(child)))
      next(child)
    })
  }

  async #drive(script: Script, command: readonly string[], begin: (child: ChildProcess) => void): Promise<HostRan> {
    const { host, place } = this
    const model = await host.model(script)
    onTestFinished(() => model.close())
    host.prepare(place, model.url)
    if (host.init) await this.punchlist('init', host.name, ...host.init)
    for (const words of host.installing ?? []) {
      const { status, stdout, stderr } = await this.#process(words, model.url, child => void child.stdin!.end())
      if (status !== 0) throw new Error(`${words.join(' ')}: exit ${status}\n${stdout}\n${stderr}`)
    }
    const { stdout, stderr } = await this.#process(command, model.url, begin)
    const session = host.session.exec(stdout)?.[1] ?? host.session.exec(stderr)?.[1]
    if (session === undefined) throw new Error(`${host.name} names no session:\n${stdout}\n${stderr}`)
    return { session, asked: model.asked, stdout, stderr }
  }

  async #process(
    [program, ...args]: readonly string[],
    model: string,
    begin: (child: ChildProcess) => void,
  ): Promise<Ran> {
    const env = { ...this.#surroundings(), ...this.host.env(model), ...this.#env }
    return await within(spawn(program!, args, { cwd: this.place.project, env, detached: true }), begin)
  }

  /** Our own program, as the user of this place would run it. */
  async punchlist<T>(...args: string[]): Promise<T> {
    return await answer<T>(args, { cwd: this.place.project, env: this.#surroundings() })
  }

  /** The plan of a session, whatever became of its items. */
  async plan(session: string): Promise<readonly ToldItem[]> {
    const list = ['plan', 'list', '--status', 'all', '--conversation', session]
    return (await this.punchlist<{ items: readonly ToldItem[] }>(...list)).items
  }

  async statuses(session: string): Promise<string[][]> {
    return (await this.plan(session)).map(({ title, status }) => [title, status])
  }

  #surroundings(): Record<string, string> {
    const { home } = this.place
    const PATH = [join(home, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter)
    return { PATH, HOME: home, USER: 'tester', LANG: 'C.UTF-8', TMPDIR: home, TERM: 'dumb' }
  }
}

/** Ends with the program, and ends whatever it leaves behind: servers, daemons. */
async function within(child: ChildProcess, begin: (child: ChildProcess) => void): Promise<Ran> {
  const stop = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // Nobody of its group is left.
    }
  }
  onTestFinished(stop)
  const timer = setTimeout(stop, LONGEST_MS)
  const over = ended(child)
  begin(child)
  const ran = await over
  clearTimeout(timer)
  stop()
  return ran
}
