import { statSync, writeFileSync } from 'node:fs'
import { move } from '../../src/core/move.ts'
import { StoreDoor } from '../../src/open.ts'
import { task } from '../../src/queue/kind.ts'
import { findWorkspace } from '../../src/workspace.ts'
import { addTasks, claimTask, endTask, stamp } from './directory-queue.ts'

// Does one thing to a queue of directories, and says what was answered. Everything before the marker is none of it.
const [root, verb, id, token] = process.argv.slice(2)
const store = await new StoreDoor(await findWorkspace({ cwd: root!, root, store: 'files' })).store(true)
const VERBS: Readonly<Record<string, () => Promise<unknown>>> = {
  add: async () => await addTasks(store, 'x', 'y'),
  claim: async () => await claimTask(store, 'killed', 1),
  complete: async () => await endTask(store, { id: id!, token: Number(token) }, 'completed'),
  fail: async () => await endTask(store, { id: id!, token: Number(token) }, 'error'),
  takeover: async () =>
    await move(store, task, { id: id!, to: 'to_execute', token: Number(token), lapsed: true, ...stamp('taker') }),
  retry: async () => await move(store, task, { id: id!, to: 'to_execute', ...stamp('tester') }),
  recover: async () => await store.recover(task, stamp('tester'), { graceMs: 0 }),
}
await store.events({ last: 0 })
writeFileSync(1, 'ready\n')
statSync('/punchlist-marker', { throwIfNoEntry: false })
const answer = await VERBS[verb!]!()
statSync('/punchlist-marker', { throwIfNoEntry: false })
writeFileSync(1, `${JSON.stringify(answer)}\n`)
await store.close()
