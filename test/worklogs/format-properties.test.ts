import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Content } from '../../src/core/kind.ts'
import { Problem } from '../../src/core/problem.ts'
import { accountOf } from '../../src/worklogs/file/account.ts'
import { withDecision, withOutcome, withSubtasks } from '../../src/worklogs/file/editing.ts'
import { worklogFile } from '../../src/worklogs/file/format.ts'
import { remarksOn } from '../../src/worklogs/file/remarks.ts'
import type { Worklog } from '../../src/worklogs/record.ts'
import { hostile } from './hostile.ts'

const list = { workflow: 'work', session: 's1' }
const name = 'alice.md'

const nasty = fc.constantFrom(
  '---',
  '\n---\n',
  ': ',
  ' #',
  '"',
  "''",
  'null',
  'yes',
  '~',
  '1.0',
  '2026-01-01',
  '[',
  '{',
  '&a',
  '*a',
  '!',
  '%',
  '@',
  '\ufeff',
  '\u00a0',
  '\n    ',
  'status: active',
  '\nstatus: done\n',
)
const text = fc.oneof(
  fc.array(fc.oneof(nasty, hostile), { maxLength: 4 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)
const foreign = fc.constantFrom(
  ['x: 1'],
  ['# by hand'],
  ['tasks_completed: 3'],
  ['x-map:', '  status: inner', '', '  more: 1'],
  ['list:', '- a', '- b'],
  ['quoted: "a', '  b"'],
  ['"odd key": |', '  text', '   more'],
)
const strange = fc.constantFrom<[string[], Record<string, unknown>]>(
  [[], {}],
  [['worker: bob'], {}],
  [['status: paused # why'], { status: 'unknown' }],
  [['worker: "b', '  c"', 'status: [a, b]'], { status: 'unknown' }],
)
const content: fc.Arbitrary<Content> = fc
  .record({
    role: fc.option(text, { nil: null }),
    plan_path: fc.option(text, { nil: null }),
    status: fc.constantFrom('active', 'completed', 'interrupted', 'unknown'),
    body: text,
    own: strange,
    others: fc.uniqueArray(foreign, { maxLength: 3 }),
  })
  .map(({ body, own, others, ...fields }) => {
    const lines = [...own[0], ...others.flat()]
    return {
      fields: { ...fields, ...own[1], worker: 'alice', extra: lines.length > 0 ? { lines } : null },
      texts: { body },
      history: [],
    }
  })

/** What can be kept of a text, told in other words than the code's. */
const kept = (value: string) =>
  Array.from(value, character => (/^[\0\ud800-\udfff]$/.test(character) ? '\ufffd' : character)).join('')
const lines = (value: string) => {
  const all = kept(value)
    .split('\n')
    .map(each => each.replace(/\r+$/, ''))
  while (all.length > 0 && /^[ \t\r]*$/.test(all[0]!)) all.shift()
  return all.join('\n').replace(/[ \t\r\n]+$/, '')
}
const value = (given: unknown) => (typeof given === 'string' ? kept(given) || null : given)
const values = ({ role, plan_path, ...rest }: Readonly<Record<string, unknown>>) => ({
  ...rest,
  ...(role === undefined ? {} : { role: value(role) }),
  ...(plan_path === undefined ? {} : { plan_path: value(plan_path) }),
})

function read(given: string): Content {
  const found = worklogFile.read(given, name, list)
  if ('message' in found) throw new Error(`line ${found.line}: ${found.message}\n${given}`)
  return found
}

describe('whatever a worklog holds', () => {
  test('its file reads as what was written, and is written again byte for byte', () => {
    fc.assert(
      fc.property(content, given => {
        const written = worklogFile.write(given)
        const found = read(written)
        expect(found.fields).toMatchObject(values(given.fields))
        expect(found.texts).toEqual({ body: lines(given.texts['body']!) })
        expect(worklogFile.write(found)).toBe(written)
        expect(remarksOn(found.fields as unknown as Worklog).join('')).not.toMatch(/[\n\r]/)
      }),
      { numRuns: 1500 },
    )
  })
})

const forms: Record<string, (given: string) => string> = {
  LF: given => given,
  CRLF: given => `\ufeff${given.replaceAll('\n', '\r\n')}`,
  mixed: given => given.replace(/\n/g, (newline, at: number) => (at % 3 === 0 ? '\r\n' : newline)),
  'no end': given => given.replace(/\n+$/, ''),
  'comments and capitals': given => given.replace(/^status: (\w+)$/m, 'Status: $1  # why').replace(/^role: .*\n/m, ''),
}

describe.each(Object.entries(forms))('whatever is changed in a file (%s)', (_, form) => {
  const change = fc.record({
    fields: fc.record(
      {
        status: fc.constantFrom('active', 'completed', 'interrupted'),
        role: fc.option(text, { nil: null }),
        plan_path: fc.option(text, { nil: null }),
      },
      { requiredKeys: [] },
    ),
    texts: fc.option(fc.record({ body: text }), { nil: undefined }),
  })

  test('it reads as it should, and every line that is not changed stays as it is', () => {
    fc.assert(
      fc.property(content, change, (given, { fields, texts }) => {
        const before = form(worklogFile.write(given))
        const was = read(before)
        const after = worklogFile.edit(before, { fields, texts })
        const is = read(after)
        const { extra, ...rest } = was.fields
        expect(is.fields).toMatchObject({ ...rest, ...values(fields) })
        if (fields.status === undefined) expect(is.fields['extra']).toEqual(extra)
        expect(is.texts).toEqual(texts ? { body: lines(texts.body) } : was.texts)
        const changed = ['status', 'role', 'plan_path'].filter(key => was.fields[key] !== is.fields[key])
        const others = (all: string) =>
          all
            .slice(0, all.search(/^---\r?$(?![^]*^---\r?$)/m))
            .split(/(?<=\n)/)
            .filter(each => !changed.some(key => each.toLowerCase().startsWith(`${key}:`)))
        if (!texts && !/^---\r?$/m.test(String(was.texts['body']))) expect(others(after)).toEqual(others(before))
        if (!texts && was.texts['body'] !== '') {
          const tail = before.slice(before.lastIndexOf(was.texts['body']!.split('\n').at(-1)!))
          expect(after.endsWith(tail)).toBe(true)
        }
        if (is.texts['body'] !== '') expect(after.endsWith('\n')).toBe(before.endsWith('\n'))
        expect(worklogFile.edit(after, { fields, texts })).toBe(after)
      }),
      { numRuns: 400 },
    )
  })
})

describe('whatever stands in a file', () => {
  const good = worklogFile.write({
    fields: { worker: 'alice', role: 'test', status: 'active', plan_path: 'a: b', extra: { lines: ['x:', '  - y'] } },
    texts: {
      body: '## Task #1: a\n\n**Status**: wip\n**Files touched**: `a`\n\n- [ ] b\n\n```\n# x\n```\n\n### Decisions\n\n- c\n',
    },
    history: [],
  })
  const mutation = fc.record({
    at: fc.nat(good.length),
    cut: fc.nat(12),
    put: fc.oneof(
      nasty,
      hostile,
      fc.constantFrom('\n\t', '"\n  ', '[\n', ' |\n  x\n', '\n```\n', '\n<!--\n', '\n- [x] '),
    ),
  })
  const mutated = fc
    .array(mutation, { minLength: 1, maxLength: 6 })
    .map(all => all.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), good))
  const bytes = fc.uint8Array({ maxLength: 300 }).map(all => new TextDecoder().decode(all))
  const framed = bytes.map(all => `---\nstatus: active\n${all}\n---\n## Task #1: x\n${all}`)
  const any = fc.oneof({ weight: 6, arbitrary: mutated }, bytes, framed)

  test('reading gives an answer, and what was read can be written and read again', () => {
    fc.assert(
      fc.property(any, given => {
        const found = worklogFile.read(given, name, list)
        if ('message' in found) {
          expect(found.line).toBeGreaterThan(0)
          expect(found.line).toBeLessThanOrEqual(given.split('\n').length)
          return
        }
        expect(read(worklogFile.write(found))).toEqual(found)
        expect(worklogFile.edit(given, { fields: { status: found.fields['status'] } })).toBe(given)
        expect(remarksOn(found.fields as unknown as Worklog)).toBeInstanceOf(Array)
      }),
      { numRuns: 2000 },
    )
  })

  test('its text is told and changed, or there is a problem', () => {
    fc.assert(
      fc.property(any, text, (given, words) => {
        const { sections } = accountOf(given)
        for (const { number } of sections.slice(0, 2)) {
          for (const change of [
            () => withDecision(given, number, words),
            () => withSubtasks(given, number, [words]),
            () => withOutcome(given, number, { status: 'failed', failure: words, files: [words], ward: words }),
          ]) {
            try {
              expect(accountOf(change()).sections).toHaveLength(sections.length)
            } catch (error) {
              if (!(error instanceof Problem)) throw error
              expect(error.code).toBe('unreadable_file')
            }
          }
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a text sixteen times as long takes about sixteen times as long', () => {
  const many = (count: number, make: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => make(n)).join('\n')
  const task = '## Task #1: a\n'
  test.each<[string, (size: number) => string]>([
    ['spaces', size => task + ' '.repeat(size)],
    ['line breaks', size => task + '\n'.repeat(size)],
    ['boxes that are none', size => task + '- ['.repeat(size / 3)],
    ['backticks', size => task + '`'.repeat(size)],
    ['a line of backticks apart', size => `${task}Files touched: ${'` '.repeat(size / 2)}`],
    ['backticks of every length', size => `${task}Files touched: ${many(Math.sqrt(size), n => `${'`'.repeat(n)} `)}`],
    ['signs of headings', size => task + '#'.repeat(size)],
    ['headings', size => '# a\n'.repeat(size / 4)],
    ['headings of tasks', size => '## Task #1: a\n'.repeat(size / 14)],
    ['headings of tasks at another level', size => '### Task #1: a\n'.repeat(size / 14)],
    ['items in items on one line', size => `${task}${'- '.repeat(size / 2)}x\n`],
    ['items in items, then text', size => `${task}${'- '.repeat(size / 4)}x\n${'y\n'.repeat(size / 4)}`],
    ['items, each deeper', size => task + many(Math.sqrt(size), n => `${' '.repeat(2 * n)}- [ ] a`)],
    ['a text of many lines in a box', size => `${task}- [ ] a\n${'b\n'.repeat(size / 2)}`],
    ['a decision of many lines', size => `${task}### Decisions\n- a\n${'  b\n'.repeat(size / 4)}`],
    ['paragraphs of decisions', size => `${task}### Decisions\n${'a\n\n'.repeat(size / 3)}`],
    ['fences that nothing closes', size => task + many(size / 8, n => `\`\`\`${'`'.repeat(n % 5)}x`)],
    [
      'fences of every length',
      size => task + many(Math.sqrt(size), n => `${'~'.repeat(3 + n)} x`) + '\n```'.repeat(size / 8),
    ],
    ['fences in items', size => `${task}${'- ```\n'.repeat(size / 6)}`],
    ['comments that nothing closes', size => task + '<!--\n'.repeat(size / 5)],
    ['comments in items', size => `${task}${'- <!--\n'.repeat(size / 7)}-->`],
    ['quotes', size => task + '>\n'.repeat(size / 2)],
    ['rules that are none', size => task + '- '.repeat(size / 2).concat('x')],
    ['stars', size => task + '*'.repeat(size)],
    ['digits', size => task + '1'.repeat(size)],
    ['names without a value', size => task + 'Status\n'.repeat(size / 7)],
    ['names with a value', size => task + 'Status: done\n'.repeat(size / 13)],
    ['a list of files', size => `${task}Files touched:\n${'- a, b\n'.repeat(size / 7)}`],
    ['labels', size => task + '**Decisions**: a\n'.repeat(size / 17)],
    ['reasons', size => task + '### Failure\n```\na\n```\n'.repeat(size / 22)],
    ['a long subject', size => `## Task #1: ${'# '.repeat(size / 2)}`],
    ['a long heading', size => `${task}### ${' decisions'.repeat(size / 10)}`],
  ])('%s', (_, make) => {
    const [short, long] = [make(10_000), make(160_000)]
    const took = (body: string) => {
      const start = performance.now()
      accountOf(body)
      return performance.now() - start
    }
    // Somebody else may be at work on the machine: the best of some counts.
    const one = Math.min(...Array.from({ length: 20 }, () => took(short)))
    // What grows with the square takes 256 times as long; what is over in a moment says nothing.
    const bound = Math.max(20, 80 * one)
    let sixteen = took(long)
    for (let again = 0; sixteen > bound && again < 8; again++) sixteen = Math.min(sixteen, took(long))
    expect(sixteen).toBeLessThan(bound)
  })
})
