import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { open, Problem } from '../../src/index.ts'

// Claims tasks with a short lease, works on each for longer or shorter than it holds, and reports. What was answered is
// written to a diary after the answer, and synced: whoever reads it there was told so.
const [root, name, lease, diary] = process.argv.slice(2)
const { PUNCHLIST_STORE: store } = process.env
const list = await open({ root: root!, actor: name!, ...(store ? { store } : {}) })
const { queue } = list
const leaseMs = Number(lease)
const pages = openSync(diary!, 'a')

for (let idle = 0; idle < 2; ) {
  const claimed = await patiently(() => queue.claim({ lease: `${leaseMs}ms` })).catch(unlessNothing)
  if (!claimed) {
    const { tasks } = await patiently(() => queue.list({ state: ['to_execute', 'in_progress'], limit: 1 }))
    idle = tasks.length === 0 ? idle + 1 : 0
    await sleep(leaseMs / 4)
    continue
  }
  const { token } = claimed
  const { id } = claimed.task
  try {
    await sleep(Math.random() * leaseMs * 0.8)
    if (Math.random() < 0.3) await patiently(() => queue.heartbeat({ id, token, lease: `${leaseMs}ms` }))
    if (Math.random() < 0.2) await sleep(leaseMs * 1.5)
    const note = Math.random() < 0.5 ? `by ${name}` : undefined
    const { task } = await patiently(() => queue.complete({ id, token, note }))
    written(`done ${id} ${token} ${name} ${task.state}`)
  } catch (error) {
    if (!(error instanceof Problem) || !['lease_lost', 'move_refused'].includes(error.code)) throw error
    written(`lost ${id} ${token} ${name} ${error.code}`)
  }
}
closeSync(pages)
await list.close()

function written(line: string): void {
  writeSync(pages, `${line}\n`)
  fsyncSync(pages)
}

/** Asks again when somebody who is frozen holds the store: every verb may be repeated. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'store_busy') throw error
    return await patiently(ask)
  }
}

function unlessNothing(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== 'nothing_to_do') throw error
}
