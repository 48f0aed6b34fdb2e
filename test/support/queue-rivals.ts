import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { everywhere, HOME } from './cli.ts'

const RIVAL = join(import.meta.dirname, 'queue-rival.ts')

/** Processes at one queue, eight of them by default, each named, that do what they are told at the same moment. */
export class Rivals {
  readonly names: readonly string[]
  private readonly running: { child: ChildProcess; lines: AsyncIterator<string> }[]

  /** Several folders: workspaces that share the queue, taken in turn. */
  constructor(folders: string | readonly string[], count = 8) {
    const roots = [folders].flat()
    this.names = Array.from({ length: count }, (_, n) => `w${n + 1}`)
    const env = { PATH: process.env['PATH'] ?? '', HOME: HOME(), ...everywhere.env }
    this.running = this.names.map((name, n) => {
      const child = spawn(process.execPath, [RIVAL, roots[n % roots.length]!, name], {
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
    })
  }

  /** Resolves when all of them are ready. */
  async ready(): Promise<this> {
    await this.answers()
    return this
  }

  /** `add COUNT [PARENT]`, `key KEY` to add under one key, or `claim` until nothing is left: the ids that each of them got. */
  async all(command: string): Promise<string[][]> {
    for (const { child } of this.running) child.stdin!.write(`${command}\n`)
    return await this.answers()
  }

  async end(): Promise<void> {
    await Promise.all(
      this.running.map(async ({ child }) => {
        const closed = new Promise(done => child.on('close', done))
        child.stdin!.end()
        await closed
      }),
    )
  }

  private async answers(): Promise<string[][]> {
    const lines = await Promise.all(this.running.map(async one => await one.lines.next()))
    return lines.map(({ value }) => JSON.parse(String(value)) as string[])
  }
}
