import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Problem, Punchlist } from '../../src/index.ts'
import { ANSWER_VERBS } from './answer-verbs.ts'

// Does one verb in a workspace whose lists are files, with the library as it is built, and says what was answered. Only
// what happens between the two markers is struck.
const [root, verb, built] = process.argv.slice(2)
const { open } = (await import(pathToFileURL(built!).href)) as typeof import('../../src/index.ts')
const list: Punchlist = await open({ root: root!, store: 'files', session: 's1', actor: 'tester' })
await list.store.events({ last: 0 })
// What Node itself reads when an error is first printed.
readFileSync('/proc/self/stat')
const before = performance.now()
writeFileSync(1, `${JSON.stringify({ ready: before > 0 })}\n`)
statSync('/punchlist-marker', { throwIfNoEntry: false })
let told: unknown
try {
  told = { answer: await ANSWER_VERBS[verb!]!.run(list) }
} catch (error) {
  const { code, message, stack } = error as Problem
  told = { refused: typeof code === 'string' && (error as Error).name === 'Problem' ? code : `BUG ${stack}`, message }
}
statSync('/punchlist-marker', { throwIfNoEntry: false })
writeFileSync(1, `${JSON.stringify(told)}\n`)
await list.close()
