import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hands } from '../../src/engines/directories/hands.ts'
import { Root } from '../../src/engines/directories/root.ts'
import { task } from '../../src/queue/kind.ts'

// Takes a directory into its hands, says so, and puts it back once its standard input ends.
const [root = '', status = '', name = ''] = process.argv.slice(2)
const hands = new Hands(new Root(join(root, 'coordination'), root, task))
const held = hands.take(status, name)!
writeFileSync(1, `${held.path}\n`)
process.stdin.resume()
await once(process.stdin, 'end')
hands.put(held, status)
