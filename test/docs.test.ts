import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toJsonSchema } from '@valibot/to-json-schema'
import { describe, expect, test } from 'vitest'
import { todo } from '../src/backlog/kind.ts'
import { continuation } from '../src/continuation/record.ts'
import type { Lifecycle } from '../src/core/lifecycle.ts'
import { refusalFor } from '../src/core/lifecycle.ts'
import { PROBLEMS } from '../src/core/problem.ts'
import { planItem } from '../src/plans/record.ts'
import { task } from '../src/queue/kind.ts'
import { declarations, settingsSchema, userSettingsSchema } from '../src/settings.ts'
import { worklog } from '../src/worklogs/kind.ts'
import { taskLifecycle } from '../src/worklogs/record.ts'
import { consoleBlocks, play } from './support/console-blocks.ts'
import { scratch } from './support/scratch.ts'

const root = join(import.meta.dirname, '..')
const read = (page: string) => readFileSync(join(root, page), 'utf8')

/** A record with every field filled in, so that only the move itself is judged. */
const complete = (life: Lifecycle, status: string) => {
  const rules = life.whenever ?? []
  const needed = [...Object.values(life.statuses), ...rules].flatMap(({ needs = [] }) => needs)
  const chosen = rules
    .filter(({ when }) => when['status'] === status)
    .flatMap(({ allows = {} }) => Object.entries(allows))
  const values = chosen.map(([field, allowed]) => [field, allowed[0]])
  return { ...Object.fromEntries([...needed.map(field => [field, 'x']), ...values]), status }
}

describe.each([
  { page: 'docs/plan.md', kind: planItem },
  { page: 'docs/backlog.md', kind: todo },
  { page: 'docs/queue.md', kind: task },
  { page: 'docs/continuation.md', kind: continuation },
  { page: 'docs/worklog.md', section: 'Statuses of a log', kind: worklog },
  { page: 'docs/worklog.md', section: 'Statuses of a task', kind: { lifecycle: taskLifecycle } },
])('$page $section tells the truth about status changes', ({ page, section, kind }) => {
  const life = kind.lifecycle
  const part = section === undefined ? read(page) : read(page).split(`## ${section}\n`)[1]!.split('\n## ')[0]!
  const rows = [...part.matchAll(/^\| (\w+) \| (\w+) \|.*\|$/gm)].map(([, from, to]) => `${from} -> ${to}`)
  const listed = new Set(rows.filter(row => row !== 'From -> To'))
  const statuses = Object.keys(life.statuses)

  test('it lists moves of this kind', () => {
    expect(listed.size).toBeGreaterThan(statuses.length)
    for (const row of listed) expect(['new', ...statuses]).toEqual(expect.arrayContaining(row.split(' -> ')))
  })

  for (const from of ['new', ...statuses]) {
    for (const to of statuses.filter(status => status !== from)) {
      const granted = listed.has(`${from} -> ${to}`)
      test(`${from} -> ${to} is ${granted ? 'granted' : 'refused'}`, () => {
        const refusal = refusalFor(life, from === 'new' ? null : from, complete(life, to))
        expect(refusal === undefined).toBe(granted)
      })
    }
  }
})

test('docs/errors.md lists every code with its exit status, and no other', () => {
  const listed = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, exit]) => [
    code,
    Number(exit),
  ])
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(Object.entries(PROBLEMS).map(([code, { exit }]) => [code, exit])),
  )
})

test('the README, the check of a clean checkout and the package agree on the two commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const command of ['start', 'test']) {
    expect(read('README.md')).toContain(`npm ci && npm ${command}`)
    expect(scripts).toHaveProperty(command)
  }
  expect(read('.ci/run')).toContain('npm ci && npm test')
  expect(read('.ci/run')).toContain('npm run -s test:hosts')
  expect(scripts).toHaveProperty('test:hosts')
})

test.each([
  { file: 'schema/punchlist.schema.json', schema: settingsSchema },
  { file: 'schema/config.schema.json', schema: userSettingsSchema },
])('$file, which editors use, is the one the settings are held to', ({ file, schema }) => {
  expect(JSON.parse(read(file))).toEqual(JSON.parse(JSON.stringify(toJsonSchema(schema))))
})

test('docs/settings.md lists every key with its default and its effect, and no other', () => {
  const part = read('docs/settings.md').split('| Key | Meaning | Default | Effect |\n')[1]!.split('\n\n')[0]!
  const listed = [...part.matchAll(/^\| `([\w.]+)` \| .+ \| (.+) \| (.+) \|$/gm)].map(row => row.slice(1, 4))
  const declared = declarations().map(([key, { default: value, effects }]) => {
    const values = value === undefined ? [] : ([value].flat() as (string | number | boolean)[]).map(one => `\`${one}\``)
    const told = Object.entries(effects).map(([effect, when]) => `${effect}: ${when}`)
    return [key, values.join(', ') || 'none', told.join('; ') || 'none']
  })
  expect(listed).toEqual(declared)
})

test('docs/settings.md lists every limit of the user', () => {
  const listed = [...read('docs/settings.md').matchAll(/^\| `limits\.(\w+)` \|/gm)].map(([, name]) => name)
  const { properties } = JSON.parse(read('schema/config.schema.json')) as {
    properties: { limits: { properties: Record<string, unknown> } }
  }
  expect(listed).toEqual(Object.keys(properties.limits.properties))
})

describe('what the pages show is what happens', () => {
  const pages = [
    'README.md',
    ...readdirSync(join(root, 'docs'))
      .filter(name => name.endsWith('.md'))
      .map(name => `docs/${name}`),
  ]
  for (const page of pages) {
    consoleBlocks(page).forEach((block, index) => {
      test(`${page}: console block ${index + 1}`, async () => {
        const cwd = scratch()
        const printed = await play(block, cwd)
        block.forEach((typed, n) => {
          expect(printed[n], `${page}:${typed.line} punchlist ${typed.args.join(' ')}`).toBe(typed.printed)
        })
      })
    })
  }
})
