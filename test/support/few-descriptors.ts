import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../src/core/problem.ts'
import { open } from '../../src/library.ts'

// Asks for todos while the process may open no more files, and again when it may.
const root = process.argv[2]!
process.env['XDG_STATE_HOME'] = join(root, 'state')
const list = await open({ root, store: 'files', session: 's1', actor: 'w' })
const { todo } = await list.backlog.add({ items: [{ title: 'One', source: 'review', status: 'ready' }] })
const { token } = (await list.backlog.claim({ id: todo.id })).todo
await list.backlog.list()
const path = join(root, todo.path)
writeFileSync(path, readFileSync(path, 'utf8').replace('priority: p2', 'priority: p1'))
const taken: number[] = []
const codes: string[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // None are left.
}
for (const ask of [
  () => list.backlog.show({ id: todo.id }),
  () => list.backlog.list(),
  () => list.backlog.log({ id: todo.id, text: 'x' }),
  () => list.backlog.add({ items: [{ title: 'Two', source: 'review' }] }),
]) {
  try {
    await ask()
    codes.push('done')
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    codes.push(error.code)
  }
}
for (const descriptor of taken) closeSync(descriptor)
const done = await list.backlog.complete({ id: todo.id, reason: 'x', token })
const told = (await list.events()).map(({ to }) => to)
process.stdout.write(JSON.stringify({ codes, told, status: done.todo.status, priority: done.todo.priority }))
