import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '../src')

/** Which room may use which: doors open one way. A file at the top of the house is a room of its own. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  core: [],
  plans: ['core'],
  backlog: ['core'],
  queue: ['core'],
  worklogs: ['core'],
  continuation: ['core'],
  hosts: ['core', 'continuation', 'plans'],
  engines: ['core'],
  'kinds.ts': ['core', 'plans', 'backlog', 'queue', 'worklogs', 'continuation'],
  'migration.ts': ['core', 'queue'],
  'handover.ts': ['core', 'backlog', 'queue'],
  trust: ['core', 'settings.ts'],
  'arrivals.ts': ['core', 'engines', 'kinds.ts', 'open.ts', 'trust', 'workspace.ts'],
  'trust-items.ts': ['arrivals.ts', 'core', 'engines', 'open.ts', 'plans', 'trust', 'workspace.ts'],
  'open.ts': ['core', 'engines', 'kinds.ts', 'trust', 'workspace.ts'],
  'settings.ts': ['core'],
  'workspace.ts': ['core', 'settings.ts', 'trust'],
  'overview.ts': ['core', 'plans', 'backlog', 'queue', 'worklogs', 'continuation'],
  transfer: ['core'],
  'transfer.ts': ['core', 'kinds.ts', 'plans', 'transfer'],
  'doctor.ts': ['core', 'hosts', 'kinds.ts', 'open.ts', 'trust-items.ts', 'workspace.ts'],
  'operations.ts': [
    'core',
    'plans',
    'backlog',
    'queue',
    'worklogs',
    'continuation',
    'handover.ts',
    'migration.ts',
    'overview.ts',
  ],
  'library.ts': [
    'core',
    'plans',
    'backlog',
    'queue',
    'worklogs',
    'continuation',
    'handover.ts',
    'migration.ts',
    'open.ts',
    'transfer.ts',
    'workspace.ts',
  ],
  'index.ts': [
    'core',
    'plans',
    'backlog',
    'queue',
    'worklogs',
    'continuation',
    'transfer.ts',
    'kinds.ts',
    'library.ts',
    'open.ts',
    'operations.ts',
  ],
  'tooling.ts': ['core'],
  runner: ['core', 'plans', 'queue', 'worklogs', 'continuation', 'handover.ts'],
  mcp: ['core', 'tooling.ts'],
  'tools.ts': ['core', 'tooling.ts', 'library.ts', 'operations.ts'],
  supervisor: ['core', 'plans', 'tooling.ts', 'library.ts', 'tools.ts'],
  otel: ['core', 'supervisor'],
  agent: ['core', 'plans', 'tooling.ts', 'library.ts', 'tools.ts', 'supervisor'],
  cli: [
    'core',
    'agent',
    'arrivals.ts',
    'mcp',
    'backlog',
    'queue',
    'worklogs',
    'continuation',
    'hosts',
    'library.ts',
    'migration.ts',
    'doctor.ts',
    'open.ts',
    'operations.ts',
    'overview.ts',
    'plans',
    'runner',
    'supervisor',
    'tools.ts',
    'transfer.ts',
    'trust-items.ts',
    'workspace.ts',
  ],
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
const room = (file: string) => relative(src, file).split('/')[0]!

function uses(file: string): { from: string; to: string; line: string }[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([line, path]) => ({
    from: room(join(src, file)),
    to: room(resolve(src, dirname(file), path!)),
    line: `${file}: ${line}`,
  }))
}

test('every room is on the plan', () => {
  expect(Object.keys(MAY_USE).toSorted()).toEqual([...new Set(files.map(file => room(join(src, file))))].toSorted())
})

test('doors open one way', () => {
  const wrong = files.flatMap(uses).filter(({ from, to }) => from !== to && !MAY_USE[from]?.includes(to))
  expect(wrong.map(({ line }) => line)).toEqual([])
})

test('one engine does not know another', () => {
  const engines = readdirSync(join(src, 'engines'))
  const wrong = files
    .filter(file => file.startsWith('engines/'))
    .filter(file =>
      engines.some(
        name => !file.startsWith(`engines/${name}/`) && readFileSync(join(src, file), 'utf8').includes(`/${name}/`),
      ),
    )
  expect(wrong).toEqual([])
})

test('only the two bins end the process, and a door that has lost its reader', () => {
  const ending = files.filter(file => /process\.exit\(/.test(readFileSync(join(src, file), 'utf8')))
  expect(ending.toSorted()).toEqual(['cli/bin.ts', 'cli/hook-bin.ts', 'cli/terminal.ts'])
})

test('drivers and servers are loaded when first used', () => {
  const eager = files
    .filter(file => !file.startsWith('mcp/') && !file.startsWith('engines/'))
    .filter(file =>
      /^import (?!type).*'(?:pg|hono|@hono|@modelcontextprotocol)/m.test(readFileSync(join(src, file), 'utf8')),
    )
  expect(eager).toEqual([])
})

test('git is started in one place', () => {
  const starting = files.filter(file =>
    /\b(?:spawn|exec)\w*\(\s*['"`]git\b|['"`]git(?:\.exe)?['"`]/.test(readFileSync(join(src, file), 'utf8')),
  )
  expect(starting).toEqual(['core/git.ts'])
})

/** Looks, which change nothing and hand out no content, and what takes a descriptor that one of the others has opened. */
const LOOKS = new Set([
  'accessSync',
  'constants',
  'existsSync',
  'FSWatcher',
  'lstatSync',
  'readdirSync',
  'realpathSync',
  'Stats',
  'statfsSync',
  'statSync',
  'watch',
  'closeSync',
  'fstatSync',
  'readSync',
  'writeSync',
])

/** The only files that open, read, write, make, move, link or remove something by its path, and why each may. */
const TOUCHING: Readonly<Record<string, string>> = {
  'core/files.ts': 'the set itself',
  'core/file-entries.ts': 'the set itself',
  'core/clock.ts': 'reads /proc',
  'core/lineage.ts': 'reads /proc',
  'core/process.ts': 'reads /proc',
  'agent/living.ts': 'reads /proc',
  'engines/sqlite/clock.ts': 'reads /proc',
  'runner/marked.ts': 'reads /proc',
  'trust/hashes.ts': "the user's state directory",
  'trust/state.ts': "the user's state directory",
  'hosts/failing.ts': "the user's state directory",
  'hosts/install/originals.ts': "the user's state directory",
  'hosts/sessions.ts': "the user's state directory, and /proc",
  'engines/postgres/migrate.ts': "the program's own migrations",
  'engines/sqlite/migrate.ts': "the program's own migrations",
  'cli/commands.ts': "the program's own package.json",
  'cli/demo-agent.ts': 'the temporary folder of the demo',
  'cli/demo-stage.ts': 'the temporary folder of the demo',
  'cli/demo-story.ts': 'the text of a script that the demo writes there',
}

/** What a file uses of node:fs; a name for the whole module counts as everything. */
function usedOfFileSystem(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  const named = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '(?:node:)?fs'/gms)].flatMap(([, names]) =>
    names!.split(',').map(name =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*$/, ''),
    ),
  )
  const mentions = text.match(/['"`](?:node:)?fs(?:\/promises)?['"`]/g)?.length ?? 0
  const imports = text.match(/^import (?:type )?\{[^}]*\} from '(?:node:)?fs'/gms)?.length ?? 0
  return [...named.filter(Boolean), ...(mentions > imports ? ['the module'] : [])]
}

test('files are opened, written, moved and removed by one set of functions', () => {
  const touching = files.flatMap(file => {
    const beyond = usedOfFileSystem(file).filter(name => !LOOKS.has(name))
    return beyond.length > 0 ? [{ file, uses: beyond.join(', ') }] : []
  })
  expect(touching.filter(({ file }) => !Object.hasOwn(TOUCHING, file))).toEqual([])
  expect(touching.map(({ file }) => file).toSorted()).toEqual(Object.keys(TOUCHING).toSorted())
})

test('the model of the walk knows the rules from elsewhere than the program', () => {
  const walk = join(import.meta.dirname, 'walk')
  const models = readdirSync(walk).filter(name => name.endsWith('.ts'))
  expect(models).toContain('queue-model.ts')
  const asking = models.filter(name => /['"`][^'"`]*\/(?:src|dist)\b/.test(readFileSync(join(walk, name), 'utf8')))
  expect(asking).toEqual([])
})
