import { closeSync, openSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { claim } from '../src/core/move.ts'
import { StoreDoor } from '../src/open.ts'
import { task } from '../src/queue/kind.ts'
import { findWorkspace } from '../src/workspace.ts'

// Claims for three seconds, or until nothing is left, as we do it or as a script that lists the folder each time.
const [how, root, by] = process.argv.slice(2) as [string, string, string]
const store = await new StoreDoor(await findWorkspace({ cwd: root, root, store: 'files' })).store(true)
const next = how === 'ours' ? ours : async () => naive()
if (how === 'ours') await store.count(task, { status: ['to_execute'] })
process.stdout.write('ready\n')
await new Promise(resolve => process.stdin.once('data', resolve))
let count = 0
for (const end = performance.now() + 3000; performance.now() < end && (await next()); ) count++
process.stdout.write(`${count}\n`)
process.stdin.destroy()
await store.close()

async function ours(): Promise<boolean> {
  const where = { blockers: 0, targetWorker: ['', by] }
  return (
    (await claim(store, task, { where, to: 'in_progress', by, at: new Date().toISOString(), leaseMs: 900_000 })) !==
    undefined
  )
}

/** The first by name; whoever loses it to another lists again. */
function naive(): boolean {
  const top = join(root, 'coordination')
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
