import { open } from '../../src/index.ts'

// One of several processes on one backlog: adds so many todos, and prints the ids they got.
const [root, name, count] = process.argv.slice(2)
const { PUNCHLIST_STORE: store } = process.env
const punchlist = await open({ root: root!, actor: name!, session: 's1', ...(store ? { store } : {}) })
const ids: string[] = []
for (let n = 0; n < Number(count); n++) {
  const { todo } = await punchlist.backlog.add({ items: [{ title: `${name} ${n}`, source: 'review' }] })
  ids.push(todo.id)
}
await punchlist.close()
process.stdout.write(JSON.stringify(ids))
