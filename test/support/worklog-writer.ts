import { once } from 'node:events'
import { appendFileSync, writeSync } from 'node:fs'
import { amend } from '../../src/core/move.ts'
import { StoreDoor } from '../../src/open.ts'
import { worklog } from '../../src/worklogs/kind.ts'
import { findWorkspace } from '../../src/workspace.ts'
import { worklogDraft } from './worklogs.ts'

// One of several processes that write worklogs: so many lines in one of its own, and as many in one that all of them
// write. What was answered is noted in the diary.
const [root, worker, mark, changes, diary] = process.argv.slice(2)
const { PUNCHLIST_STORE: store } = process.env
const door = new StoreDoor(await findWorkspace({ cwd: root!, root: root!, store: store ?? 'files' }))
const open = await door.store(true)
const note = () => ({ by: mark!, at: new Date().toISOString() })
// Engines are loaded when they are first used.
await open.find(worklog, { where: { id: 'nobody' } })
writeSync(1, 'ready\n')
await once(process.stdin, 'data')
const names = [worker!, ...(Number(changes) > 0 ? ['all'] : [])]
for (const name of names) await open.insert(worklog, [worklogDraft(name)], note())
for (let n = 0; n < Number(changes); n++) {
  for (const name of names) {
    const line = `- [x] ${mark} ${n} ${'.'.repeat(n % 7)}|`
    const texts = ({ body = '' }) => ({ body: `${body}${body === '' ? '' : '\n'}${line}` })
    await amend(open, worklog, { id: `work/s1/${name}`, ...note(), texts })
    appendFileSync(diary!, `${name} ${line}\n`)
  }
}
await door.close()
process.exit()
