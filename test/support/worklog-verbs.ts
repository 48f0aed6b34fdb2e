import { amend, move } from '../../src/core/move.ts'
import { Problem } from '../../src/core/problem.ts'
import { StoreDoor } from '../../src/open.ts'
import { worklog as kind } from '../../src/worklogs/kind.ts'
import { findWorkspace } from '../../src/workspace.ts'
import { worklogDraft } from './worklogs.ts'

// Tries everything that writes a worklog, and reads what is there: what each is refused with, and what is seen.
const root = process.argv[2]!
const note = { by: 'w', at: '2026-01-02T03:04:05.000Z' }
const door = new StoreDoor(await findWorkspace({ cwd: root, root, store: 'files' }))
const code = (error: unknown) => {
  if (!(error instanceof Problem)) throw error
  return error.code
}
const written = async () => {
  const store = await door.store(true)
  return [
    await store.insert(kind, [worklogDraft('new')], note).then(() => 'done', code),
    await amend(store, kind, { id: 'work/s1/ann', ...note, texts: () => ({ body: 'ours' }) }).then(() => 'done', code),
    await move(store, kind, { id: 'work/s1/ann', to: 'completed', ...note }).then(() => 'done', code),
  ]
}
const store = await door.store(false)
const items = await store.find(kind, { where: { workflow: 'work', session: 's1' } })
const texts = await store.texts(
  kind,
  items.map(({ id }) => id),
)
const unreadable = await store.unreadable(kind, { workflow: 'work', session: 's1' })
const refusals = await written().catch(error => [code(error)])
const seen = Object.fromEntries(items.map(({ id, worker }) => [worker, texts.get(id)?.['body']]))
process.stdout.write(JSON.stringify({ refusals, seen, unreadable: unreadable.map(({ file }) => file) }))
await door.close()
