import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { toJsonSchema } from '@valibot/to-json-schema'
import { type OutputChunk, rolldown } from 'rolldown'
import { settingsSchema, userSettingsSchema } from '../src/settings.ts'
import { compiledEagerly } from './eager.ts'
import { notices } from './notices.ts'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const dist = join(root, 'dist')

const LIBRARY = {
  index: 'src/index.ts',
  'mcp/index': 'src/mcp/index.ts',
  'continuation/index': 'src/continuation/index.ts',
  'supervisor/index': 'src/supervisor/index.ts',
  tools: 'src/tools.ts',
  'otel/index': 'src/otel/index.ts',
}
/** What whoever uses the library brings along, in the version they use themselves. */
const PEERS = ['ai', '@opentelemetry/api']

type Groups = { name: string; test: RegExp }[]

// What reads settings: loaded where there are some.
const SETTINGS = {
  name: 'settings',
  test: /\/src\/(?:settings|trust\/(?:accepted|applied|judgement|ward-settings))\.ts/,
}

// Every file is another look-up at every start: what the verbs of the plan need is one chunk, with what they import. What
// only some starts need is imported by `import()` in the source. It lies where the engine looks for its migrations.
const SHARED: Groups = [
  {
    name: 'plan',
    test: /\/src\/(?:core\/(?:boundary|clock|completion|disk|file-entries|files|id|input|keeping|kind|lifecycle|move|nearest|operation|parts|problem|state-file|store|text|unknown-fields|words)\.ts|plans\/(?:current-turn|draft|ended-turn|operations|record|turns|work)\.ts|cli\/(?:arguments|bin|main|scope|show|table|terminal)\.ts|engines\/(?:files\/shelves|sqlite\/(?!ledger)[a-z-]+)\.ts|hosts\/(?:reading|scoping)\.ts|trust\/(?:queue-folder|root|state|store-file)\.ts|(?:open|operations|workspace)\.ts)|\/valibot\//,
  },
  SETTINGS,
  { name: 'text', test: /\/src\/core\/(?:markdown\.ts|splices\.ts|yaml\/)/ },
]

// Hooks have three: what a host needs that works where no list is kept, what looks at the list, and what is said and written
// where items are open.
const HOOK: Groups = [
  {
    name: 'hook',
    test: /\/src\/(?:cli\/(?!hook-reply)|core\/(?:disk|files|problem|state-file)\.ts|hosts\/(?:answering|event|hearing|hosts|reading|scoping|claude-code\/hook)\.ts|workspace\.ts)/,
  },
  {
    name: 'list',
    test: /\/src\/(?:cli\/hook-reply\.ts|core\/(?:boundary|clock|completion|file-entries|keeping|kind|lifecycle|parts|store|text)\.ts|plans\/(?:current-turn|outlook|record)\.ts|hosts\/hook\.ts|engines\/(?:files\/shelves|sqlite\/(?!ledger)[a-z-]+)\.ts|open\.ts|trust\/(?:queue-folder|root|state|store-file)\.ts)/,
  },
  { name: 'open', test: /\/src\/(?:continuation\/|core\/(?:id|move)\.ts|plans\/turns\.ts|hosts\/replies\.ts)/ },
  SETTINGS,
]

/** What most starts need, beside the file that they start with. */
const EAGER = new Set([SETTINGS.name, 'list', 'open'])

// Built beside and renamed into place: a command that starts meanwhile finds the old build or the new one, never half of one.
const fresh = join(root, `dist.${process.pid}`)
process.on('exit', () => rmSync(fresh, { recursive: true, force: true }))
const chunks = [
  ...(await bundle(fresh, 'esm', LIBRARY, [], PEERS)),
  ...(await alone('opencode.js', 'src/hosts/opencode/index.ts')),
  ...(await alone('pi.js', 'src/hosts/pi/extension.ts')),
  ...(await bundle(join(fresh, 'program'), 'cjs', { 'engines/sqlite/bin': 'src/cli/bin.ts' }, SHARED)),
  // By itself: what it shares with the commands would come with what only those need.
  ...(await bundle(join(fresh, 'hook'), 'cjs', { 'engines/sqlite/hook-bin': 'src/cli/hook-bin.ts' }, HOOK)),
]
writeFileSync(join(fresh, 'NOTICES.md'), notices(packagesIn(chunks)))
types()
mkdirSync(join(root, 'schema'), { recursive: true })
writeFileSync(join(root, 'schema/punchlist.schema.json'), jsonSchemaOf(settingsSchema))
writeFileSync(join(root, 'schema/config.schema.json'), jsonSchemaOf(userSettingsSchema))
const old = join(root, `dist.${process.pid}.old`)
if (existsSync(dist)) renameSync(dist, old)
renameSync(fresh, dist)
rmSync(old, { recursive: true, force: true })

/**
 * JavaScript in lazily loaded chunks, what we depend on included; drivers stay
 * outside. The library is ESM; the program is CommonJS, which starts faster.
 */
async function bundle(
  dir: string,
  format: 'esm' | 'cjs',
  input: Record<string, string>,
  groups: Groups = [],
  outside: readonly string[] = [],
): Promise<OutputChunk[]> {
  const ending = format === 'esm' ? 'js' : 'cjs'
  // The library has everything at hand, so what the program loads when it needs it is there already: nothing to warn of.
  const checks = { ineffectiveDynamicImport: false }
  const build = await rolldown({ cwd: root, input, platform: 'node', external: [/^node:/, 'pg', ...outside], checks })
  const { output } = await build.write({
    dir,
    format,
    entryFileNames: `[name].${ending}`,
    // A chunk lies where its source does, so that a file beside the source is also beside the chunk.
    chunkFileNames: ({ facadeModuleId, name, moduleIds }) =>
      facadeModuleId?.startsWith(src)
        ? relative(src, facadeModuleId).replace(/\.ts$/, `.${ending}`)
        : `${folderOf(moduleIds) ?? 'shared'}/${name}-[hash].${ending}`,
    codeSplitting: { groups },
    // Comments and white space are read and kept in memory at every start; names stay, for the stack traces.
    minify: format === 'cjs' ? { compress: false, mangle: false, codegen: { removeWhitespace: true } } : false,
  })
  await build.close()
  for (const engine of readdirSync(join(src, 'engines'))) {
    const from = join(src, 'engines', engine, 'migrations')
    if (existsSync(from)) cpSync(from, join(dir, 'engines', engine, 'migrations'), { recursive: true })
  }
  const parts = output.filter(part => part.type === 'chunk')
  for (const { fileName, moduleIds } of parts) {
    const folder = folderOf(moduleIds)
    if (folder !== undefined && dirname(fileName) !== folder)
      throw new Error(`${fileName} is not beside its migrations`)
  }
  const loadedAtStart = parts.filter(({ isEntry, name }) => format === 'cjs' && (isEntry || EAGER.has(name)))
  for (const { fileName, code } of loadedAtStart) writeFileSync(join(dir, fileName), compiledEagerly(code))
  return parts
}

/** Where a chunk has to lie that reads migrations: they are beside it. */
function folderOf(moduleIds: readonly string[]): string | undefined {
  const reader = moduleIds.find(id => id.startsWith(src) && /\/engines\/\w+\/migrate\.ts$/.test(id))
  return reader === undefined ? undefined : dirname(relative(src, reader))
}

/** One file that needs no other: a host loads it from wherever it lies, in a runtime of its own. */
async function alone(file: string, input: string): Promise<OutputChunk[]> {
  const build = await rolldown({ cwd: root, input, platform: 'node', external: [/^node:/] })
  const { output } = await build.write({ file: join(fresh, file), format: 'esm', codeSplitting: false })
  await build.close()
  return output.filter(part => part.type === 'chunk')
}

function types(): void {
  const tsc = join(root, 'node_modules/.bin/tsc')
  execFileSync(tsc, ['-p', 'tsconfig.types.json', '--outDir', join(fresh, 'types')], { cwd: root, stdio: 'inherit' })
}

function jsonSchemaOf(schema: Parameters<typeof toJsonSchema>[0]): string {
  return `${JSON.stringify(toJsonSchema(schema), null, 2)}\n`
}

/** The folders of the packages that went into the chunks. */
function packagesIn(parts: readonly OutputChunk[]): string[] {
  return [...new Set(parts.flatMap(({ moduleIds }) => moduleIds.flatMap(id => packageOf(id) ?? [])))]
}

function packageOf(id: string): string | undefined {
  if (!id.includes('/node_modules/')) return undefined
  for (let folder = dirname(id); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name) return folder
  }
  return undefined
}
