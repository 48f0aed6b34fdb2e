import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { amend } from '../../src/core/move.ts'
import { Problem } from '../../src/core/problem.ts'
import { StoreDoor } from '../../src/open.ts'
import { worklogFile } from '../../src/worklogs/file/format.ts'
import { worklog as kind } from '../../src/worklogs/kind.ts'
import { findWorkspace } from '../../src/workspace.ts'
import { WORKERS, worklogDraft } from './worklogs.ts'

// Opens worklogs and adds to them until the disk is full; then looks what is there, frees some space and goes on.
const root = process.argv[2]!
process.env['XDG_STATE_HOME'] = join(root, 'state')
const opened = async () => await new StoreDoor(await findWorkspace({ cwd: root, root, store: 'files' })).store(true)
const ballast = Array.from({ length: 20 }, (_, n) => join(root, `ballast-${n}`))
for (const file of ballast) writeFileSync(file, Buffer.alloc(16 * 1024))
const note = { by: 'w', at: '2026-01-02T03:04:05.000Z' }
let store = await opened()
const refusals: string[] = []
const answers = new Map<string, string>()
const write = async (n: number) => {
  const draft = worklogDraft(`w${n}`, { body: 'x'.repeat(3000) })
  await store.insert(kind, [draft], note)
  answers.set(draft.id!, draft.texts!['body']!)
  for (const line of ['one', 'two']) {
    await amend(store, kind, { id: draft.id!, ...note, texts: ({ body }) => ({ body: `${body}\n${line}` }) })
    answers.set(draft.id!, `${answers.get(draft.id!)}\n${line}`)
  }
}
for (let n = 0; refusals.length === 0; n++) {
  await write(n).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error
    refusals.push(error.code)
  })
}

const folder = join(root, WORKERS)
for (const name of readdirSync(folder)) {
  const text = readFileSync(join(folder, name), 'utf8')
  const list = { workflow: 'work', session: 's1' }
  if (!worklogFile.isItem(name) || 'message' in worklogFile.read(text, name, list)) refusals.push(`${name} is left`)
}
/** Everything that was answered is there, word for word. */
const check = async () => {
  const items = await store.find(kind, {})
  const texts = await store.texts(
    kind,
    items.map(({ id }) => id),
  )
  for (const [id, body] of answers) if (texts.get(id)?.['body'] !== body) refusals.push(`${id} is not as it was`)
  refusals.push(...(await store.unreadable(kind, {})).map(({ file }) => file))
  return items.length
}
const stored = await check()
for (const file of ballast) rmSync(file)
store = await opened()
await check()
await write(100_000)
await check()
process.stdout.write(JSON.stringify({ answered: answers.size - 1, stored, refusals, afterwards: 'went on' }))
