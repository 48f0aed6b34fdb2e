import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '../src/index.ts'
import { median, ms, type Row } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '../bin/punchlist.js')

export async function mcp(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    return [await toolsList(folder), await roundTrip(folder)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From the start of the process to the answered tools/list, against a Node that does nothing; wall time, the best of each. */
async function toolsList(cwd: string): Promise<Row> {
  let [ours, bare] = [Infinity, Infinity]
  for (let n = 0; n < 25; n++) {
    const began = performance.now()
    const server = new Server(cwd)
    await server.opened()
    await server.ask('tools/list', {})
    ours = Math.min(ours, performance.now() - began)
    await server.close()
    const again = performance.now()
    await new Promise(done => spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).on('close', done))
    bare = Math.min(bare, performance.now() - again)
  }
  const ratio = ours / bare
  return {
    what: 'MCP: process start to answered tools/list',
    ours: ms(ours),
    against: `node -e 0: ${ms(bare)}`,
    ratio,
    bar: 4,
    must: 'at most',
  }
}

/** create_todo of one item over stdio, and the same call of the library, one after the other on the same kind of file. */
async function roundTrip(cwd: string): Promise<Row> {
  const punchlist = await open({ root: cwd, store: `sqlite:${join(cwd, 'library.db')}`, turn: 't' })
  const server = new Server(cwd)
  await server.opened()
  const [over, direct]: [number[], number[]] = [[], []]
  for (let n = 0; n < 300; n++) {
    const items = [{ title: `item ${n}` }]
    const began = performance.now()
    await server.ask('tools/call', { name: 'create_todo', arguments: { items } })
    const between = performance.now()
    await punchlist.plan.create({ items })
    over.push(between - began)
    direct.push(performance.now() - between)
  }
  await server.close()
  await punchlist.close()
  const [ours, library] = [median(over), median(direct)]
  // Told as a share of the 3 ms that it may take longer.
  const ratio = (ours - library) / 3
  return {
    what: 'MCP: create_todo, what it takes longer than the library, of 3 ms',
    ours: ms(ours),
    against: `library: ${ms(library)}`,
    ratio,
    bar: 1,
    must: 'at most',
  }
}

/** The least client there can be: what is measured is the server. */
class Server {
  private readonly child
  private readonly waiting = new Map<number, () => void>()
  private next = 0

  constructor(cwd: string) {
    this.child = spawn(process.execPath, [PROGRAM, 'mcp'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
    let rest = ''
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const { id, error } = JSON.parse(line) as { id?: number; error?: { message: string } }
        if (error) throw new Error(error.message)
        if (id !== undefined) this.waiting.get(id)?.()
      }
    })
  }

  async opened(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' }
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    this.send({ method: 'notifications/initialized' })
  }

  async ask(method: string, params: unknown): Promise<void> {
    const id = this.next++
    const answered = new Promise<void>(done => this.waiting.set(id, done))
    this.send({ id, method, params })
    await answered
  }

  async close(): Promise<void> {
    const closed = new Promise(done => this.child.on('close', done))
    this.child.stdin.end()
    await closed
  }

  private send(message: object): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}
