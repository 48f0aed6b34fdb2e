import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { todoFile } from '../../src/backlog/file/format.ts'
import { Problem } from '../../src/core/problem.ts'
import { open } from '../../src/library.ts'

// Adds and claims todos until the disk is full; then looks what is there, frees some space and goes on.
const root = process.argv[2]!
process.env['XDG_STATE_HOME'] = join(root, 'state')
const opened = () => open({ root, store: 'files', session: 's1', actor: 'w' })
const ballast = Array.from({ length: 20 }, (_, n) => join(root, `ballast-${n}`))
for (const file of ballast) writeFileSync(file, Buffer.alloc(16 * 1024))
let list = await opened()
const refusals: string[] = []
const answers = new Map<string, string>()
while (refusals.length === 0) {
  const title = `item ${answers.size}`
  try {
    const { todo } = await list.backlog.add({
      items: [{ title, source: 'review', status: 'ready', body: 'x'.repeat(5000) }],
    })
    answers.set(todo.id, 'ready')
    await list.backlog.claim({ id: todo.id })
    answers.set(todo.id, 'in_progress')
    await list.backlog.complete({ id: todo.id, reason: 'y'.repeat(3000) })
    answers.set(todo.id, 'complete')
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    refusals.push(error.code)
  }
}

const folder = join(root, 'tmp/work/s1/todos/review')
const names = readdirSync(folder)
const broken = names.filter(name => {
  const text = readFileSync(join(folder, name), 'utf8')
  return (
    !todoFile.isItem(name) ||
    'message' in todoFile.read(text, name, { workflow: 'work', session: 's1', source: 'review' })
  )
})
refusals.push(...broken)
/** Everything that was answered is there, and nothing else but what was not answered any more. */
const check = async () => {
  const { todos, warnings } = await list.backlog.list({ all: true })
  const there = new Map(todos.map(({ id, status }) => [id, status]))
  for (const [id, status] of answers)
    if (there.get(id) !== status) refusals.push(`${id} is ${there.get(id)}, not ${status}`)
  refusals.push(...warnings.map(({ message }) => message))
  return there.size
}
const stored = await check()
await list.close()
list = await opened().catch((error: unknown) => {
  if (!(error instanceof Problem)) throw error
  return list
})
for (const file of ballast) rmSync(file)
list = await opened()
await check()
const { todo } = await list.backlog.add({ items: [{ title: 'afterwards', source: 'review' }] })
await list.backlog.dismiss({ id: todo.id, as: 'out_of_scope', reason: 'x' })
await check()
process.stdout.write(JSON.stringify({ answered: answers.size, stored, refusals, afterwards: 'went on' }))
