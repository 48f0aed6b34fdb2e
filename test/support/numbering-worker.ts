import { once } from 'node:events'
import { todo } from '../../src/backlog/kind.ts'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { note } from './drafts.ts'
import { todoDraft } from './todos.ts'

// Adds todos to one list from when it is told to begin, and prints the numbers it was given.
const [path, name, count] = process.argv.slice(2)
const store = openSqliteStore(path!)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
const numbers: number[] = []
for (let n = 0; n < Number(count); n++) {
  const [added] = await store.insert(todo, [todoDraft(`${name} ${n}`)], note)
  numbers.push(Number(added!.item.issue_id))
}
process.stdout.write(`${JSON.stringify(numbers)}\n`)
