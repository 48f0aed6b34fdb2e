import { closeSync, openSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { claim } from '../src/core/move.ts'
import type { Store } from '../src/core/store.ts'
import { StoreDoor } from '../src/open.ts'
import { task } from '../src/queue/kind.ts'
import { findWorkspace } from '../src/workspace.ts'

// Claims for three seconds, or until nothing is left, as we do it or as a script that lists the folder each time; before that,
// everything in a queue of its own.
const [how, root, by, practice] = process.argv.slice(2) as [string, string, string, string]
const own = await claimer(practice)
while (await own.next());
await own.store.close()
const { next, store } = await claimer(root)
process.stdout.write('ready\n')
await new Promise(resolve => process.stdin.once('data', resolve))
let count = 0
for (const end = performance.now() + 3000; performance.now() < end && (await next()); ) count++
process.stdout.write(`${count}\n`)
process.stdin.destroy()
await store.close()

async function claimer(folder: string) {
  const workspace = await findWorkspace({ cwd: folder, root: folder, store: 'files' })
  const opened = await new StoreDoor(workspace).store(true)
  if (how === 'ours') await opened.count(task, { status: ['to_execute'] })
  return { store: opened, next: how === 'ours' ? () => ours(opened) : async () => naive(folder) }
}

async function ours(queue: Store): Promise<boolean> {
  const where = { blockers: 0, targetWorker: ['', by] }
  return (
    (await claim(queue, task, { where, to: 'in_progress', by, at: new Date().toISOString(), leaseMs: 900_000 })) !==
    undefined
  )
}

/** The first by name; whoever loses it to another lists again. */
function naive(folder: string): boolean {
  const top = join(folder, 'coordination')
  for (;;) {
    const [name] = readdirSync(join(top, 'to_execute')).toSorted()
    if (name === undefined) return false
    try {
      renameSync(join(top, 'to_execute', name), join(top, 'in_progress', name))
    } catch {
      continue
    }
    const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')
    closeSync(openSync(join(top, 'in_progress', name, `${name.slice(0, 8)}_${stamp}_started`), 'wx'))
    return true
  }
}
