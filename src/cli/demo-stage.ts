import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { words } from '../core/words.ts'
import type { Surroundings } from './main.ts'

/** What came of a command that was typed. */
export interface Typed {
  readonly status: number | null
  readonly output: string
}

/** A fact that is not there after so long will not come any more. */
const PATIENCE_MS = 60_000

/** A folder of its own, and the real program to type commands at. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'punchlist-demo-'))
  private readonly around: Surroundings
  private readonly signal: AbortSignal
  private readonly running = new Set<ChildProcess>()

  constructor(around: Surroundings) {
    this.around = around
    this.signal = around.terminal.interrupted
    this.signal.addEventListener('abort', () => this.stop('SIGTERM'))
  }

  get interrupted(): boolean {
    return this.signal.aborted
  }

  say(text: string): void {
    this.around.terminal.out(text)
  }

  caption(...lines: readonly string[]): void {
    this.say(`\n${lines.map(line => `# ${line}`).join('\n')}`)
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  /** Types a command and shows what it answers. `fails`: it is refused, and that is the point. */
  async type(command: string, { fails = false } = {}): Promise<Typed> {
    const typed = await this.begin(command).ended
    if ((typed.status === 0) === fails) throw this.wentWrong(command, typed)
    return typed
  }

  /** Types several commands at the same moment, and shows what each answers, one after the other. */
  async typeAtOnce(commands: readonly string[]): Promise<Typed[]> {
    const all = await Promise.all(commands.map(command => this.launch(command, () => undefined).ended))
    for (const [index, { output }] of all.entries()) {
      this.say(`$ punchlist ${commands[index]}`)
      this.say(output.trimEnd())
    }
    return all
  }

  /** Types a command and goes on while it runs; what it prints is shown as it comes. */
  begin(command: string): { readonly child: ChildProcess; readonly ended: Promise<Typed> } {
    this.say(`$ punchlist ${command}`)
    return this.launch(command, line => this.say(line))
  }

  /** Waits for something to be so, and never for a time. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    for (const end = performance.now() + PATIENCE_MS; ; ) {
      if (this.interrupted) throw new Error('the demo was interrupted')
      if (isSo()) return
      if (performance.now() > end) throw new Error(`the demo went wrong: ${what} did not happen`)
      await sleep(20)
    }
  }

  async clear(): Promise<void> {
    const left = [...this.running].map(child => new Promise(done => child.once('close', done)))
    this.stop('SIGTERM')
    await Promise.all(left)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 })
  }

  private launch(command: string, onLine: (line: string) => void) {
    const self = [process.execPath, process.argv[1]!]
    const [program, ...args] = [...self, ...words(command)!.flatMap(word => (word === 'punchlist' ? self : [word]))]
    const child = spawn(program!, args, { cwd: this.folder, env: this.env(), stdio: ['ignore', 'pipe', 'pipe'] })
    this.running.add(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      let rest = ''
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const lines = (rest + text).split('\n')
        rest = lines.pop()!
        for (const line of lines) onLine(line)
      })
    }
    const ended = new Promise<Typed>((done, failed) => {
      child.once('error', failed)
      child.once('close', status => {
        this.running.delete(child)
        if (this.interrupted) failed(new Error('the demo was interrupted'))
        else done({ status, output })
      })
    })
    return { child, ended }
  }

  /** Whatever the demo was started from, it is played in a world of its own. */
  private env(): Record<string, string | undefined> {
    const own = Object.entries(this.around.env).filter(([name]) => !/^PUNCHLIST_(?!RUN$)/.test(name))
    return {
      ...Object.fromEntries(own),
      // The ward is run by the same Node, whether or not there is one to be found.
      PATH: [dirname(process.execPath), this.around.env['PATH']].filter(Boolean).join(delimiter),
      XDG_STATE_HOME: join(this.folder, '.state'),
      PUNCHLIST_ROOT: this.folder,
      PUNCHLIST_ACTOR: 'you',
      PUNCHLIST_SESSION: 'demo',
    }
  }

  private stop(signal: NodeJS.Signals): void {
    for (const child of this.running) child.kill(signal)
  }

  private wentWrong(command: string, { status, output }: Typed): Error {
    return new Error(`the demo went wrong at "${command}": exit ${status}\n${output}`)
  }
}
