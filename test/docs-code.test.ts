import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
/** In the project, where its packages are found. */
const folder = join(root, 'node_modules', `.docs-code-${process.pid}`)

/** What code on the pages takes from its reader's own program. */
const THEIRS = `
  import type { TodoContinuationOptions } from 'punchlist/continuation'
  import type { ToolSet } from 'ai'
  import type { SupervisorTurn } from 'punchlist/ai'
  type Theirs = { [K in keyof TodoContinuationOptions]-?: NonNullable<TodoContinuationOptions[K]> }
  declare global {
    const myTodos: Theirs['getTodos']
    const myMessages: Theirs['getMessages']
    const send: Theirs['injectPrompt']
    const show: Theirs['showToast']
    const pendingAndRunning: Theirs['getBackgroundTaskCount']
    const readFile: ToolSet[string]
    const writeFile: ToolSet[string]
    const turn: SupervisorTurn
  }
`
const MODEL = `declare module '@ai-sdk/openai' { export function openai(name: string): import('ai').LanguageModel }\n`

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the TypeScript on the pages is correct, against the types that are published', () => {
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)]
  mkdirSync(folder)
  const blocks = pages.flatMap(page =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => ({ page, code })),
  )
  expect(blocks.length).toBeGreaterThan(5)
  blocks.forEach(({ page, code }, n) => {
    writeFileSync(join(folder, `${page.replace('/', '-')}-${n}.ts`), `${code}\nexport {}\n`)
  })
  writeFileSync(join(folder, 'theirs.d.ts'), THEIRS)
  writeFileSync(join(folder, 'model.d.ts'), MODEL)
  const settings = {
    extends: '../../tsconfig.json',
    compilerOptions: { noUnusedLocals: false, paths: pathsOf() },
    include: ['*.ts'],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  expect(stdout).toBe('')
})

/** Where the package says that its types are. */
function pathsOf(): Record<string, string[]> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>
  }
  const typed = Object.entries(exports).filter(([, { types }]) => types !== undefined)
  return Object.fromEntries(typed.map(([name, { types }]) => [name.replace(/^\./, 'punchlist'), [join(root, types!)]]))
}
