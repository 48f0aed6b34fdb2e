import { once } from 'node:events'
import { open, Problem } from '../../src/index.ts'

// One of several processes at one queue: from when it is told to begin it claims until nothing is left, and prints what it got.
const [root, name] = process.argv.slice(2)
const { PUNCHLIST_STORE: store } = process.env
const punchlist = await open({ root: root!, actor: name!, ...(store ? { store } : {}) })
await punchlist.queue.list({ limit: 1 })
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
try {
  for (;;) process.stdout.write(`${(await punchlist.queue.claim({ worker: name })).task.id}\n`)
} catch (error) {
  if (!(error instanceof Problem) || error.code !== 'nothing_to_do') throw error
}
await punchlist.close()
