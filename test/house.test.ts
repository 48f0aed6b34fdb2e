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
  'trust-items.ts': ['core', 'engines', 'open.ts', 'plans', 'trust', 'workspace.ts'],
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
