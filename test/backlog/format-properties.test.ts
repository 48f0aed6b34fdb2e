import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { todoFile } from '../../src/backlog/file/format.ts'
import { FRONTMATTER, TODO_STATUSES } from '../../src/backlog/record.ts'
import type { Content, Happening } from '../../src/core/kind.ts'

const list = { workflow: 'work', session: 's1', source: 'review' }
const name = '007-pending-p1-x.md'

const nasty = fc.constantFrom(
  '|',
  '\\',
  '\\|',
  '---',
  '\n---\n',
  '## Status History',
  '\n## Status History\n',
  '```',
  '\n```\n',
  '\n~~~~\n',
  '# ',
  '\n# X\n',
  '#',
  ' #',
  ': ',
  ':',
  '"',
  "'",
  "''",
  'null',
  'yes',
  '~',
  '1.0',
  '001',
  '2026-01-01',
  '- ',
  '[',
  ']',
  '{',
  ',',
  '&a',
  '*a',
  '!',
  '%',
  '@',
  '`',
  ' ',
  '  ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\u00a0',
  '—',
  '-',
  '😀',
  'é',
  'e\u0301',
  '\ud83d',
  '\0',
  '\u001b',
  '| a | b |\n|---|---|',
  '\n    ',
)
const text = fc.oneof(
  fc.array(fc.oneof(nasty, fc.string({ maxLength: 6 })), { maxLength: 8 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)
const optional = fc.option(text, { nil: null })
const integer = fc.option(fc.integer({ min: -5, max: 1_000_000 }), { nil: null })
const status = fc.constantFrom(...TODO_STATUSES)
const happening: fc.Arbitrary<Happening> = fc.record({
  at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map(date => date.toISOString()),
  from: fc.option(status, { nil: null }),
  to: status,
  by: text,
  why: optional,
})
const own = (key: string, type: string): fc.Arbitrary<unknown> => {
  if (key === 'status') return status
  if (key === 'priority') return fc.constantFrom('p1', 'p2', 'p3')
  if (key === 'issue_id') return fc.integer({ min: 0, max: 5000 }).map(number => String(number).padStart(3, '0'))
  if (key === 'schema_version') return fc.constantFrom(1, 2)
  if (key === 'source') return fc.constant('review')
  if (type === 'integer') return integer
  return type === 'json' ? fc.array(text, { maxLength: 4 }) : optional
}
const frontmatter = fc.record(
  Object.fromEntries(Object.entries(FRONTMATTER).map(([key, type]) => [key, own(key, type)])),
)
const content: fc.Arbitrary<Content> = fc.record({
  fields: fc.tuple(text, frontmatter).map(([title, fields]) => ({ ...fields, title })),
  texts: fc.record({ body: text }),
  history: fc.array(happening, { maxLength: 4 }),
})

/** What can be kept of a text, told in other words than the code's. */
const kept = (value: string) =>
  Array.from(value, character =>
    character === '\0' || /^[\ud800-\udfff]$/.test(character) ? '\ufffd' : character,
  ).join('')
const line = (value: string) =>
  Array.from(value, character => (/^[\p{Cc}\p{Zl}\p{Zp}]$/u.test(character) ? ' ' : kept(character)))
    .join('')
    .trim()
const lines = (value: string) => {
  const all = kept(value)
    .split('\n')
    .map(each => {
      let end = each.length
      while (each[end - 1] === '\r') end--
      return each.slice(0, end)
    })
  while (all.length > 0 && /^[ \t\r]*$/.test(all[0]!)) all.shift()
  while (all.length > 0 && /^[ \t\r]*$/.test(all.at(-1)!)) all.pop()
  return all.join('\n').replace(/[ \t\r]+$/, '')
}
const value = (type: string, given: unknown) => {
  if (type === 'json') return (given as string[]).map(kept).filter(Boolean)
  return typeof given === 'string' ? kept(given) || null : given
}
const values = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(FRONTMATTER)
      .filter(([key]) => key in fields)
      .map(([key, type]) => [key, value(type, fields[key])]),
  )
const told = ({ at, from, to, by, why }: Happening) => ({ at, from, to, by: line(by), why: line(why ?? '') || null })

function read(given: string): Content {
  const found = todoFile.read(given, name, list)
  if ('message' in found) throw new Error(`line ${found.line}: ${found.message}\n${given}`)
  return found
}

describe('whatever a todo holds', () => {
  test('its file reads as what was written, and is written again byte for byte', () => {
    fc.assert(
      fc.property(content, given => {
        const written = todoFile.write(given)
        const found = read(written)
        expect(found.fields).toMatchObject({
          ...values(given.fields),
          title: line(String(given.fields['title'])) || 'Untitled',
          extra: null,
        })
        expect(found.texts).toEqual({ body: lines(given.texts['body']!) })
        expect(found.history).toEqual(given.history.map(told))
        expect(todoFile.write(found)).toBe(written)
        expect(written.split('\n')).toContain(`status: ${String(given.fields['status'])}`)
        expect(written).not.toMatch(/\r\n|[\0\ud800-\udfff]/u)
      }),
      { numRuns: 1500 },
    )
  })

  test('every line of the frontmatter is a plain word, JSON, or a list of them', () => {
    const scalar = /^(?:null|-?\d+|[\p{L}_/][^"#]*|"(?:[^"\\]|\\.)*")$/u
    fc.assert(
      fc.property(content, given => {
        const head = todoFile.write(given).split('\n---\n')[0]!.split('\n').slice(1)
        expect(head.map(each => each.split(':')[0])).toEqual(Object.keys(FRONTMATTER))
        // Line breaks for older YAML, and what it does not print.
        expect(head.join('')).not.toMatch(/[\u007f-\u009f\u2028\u2029\ufeff]/)
        for (const each of head) {
          const [, key, rest] = /^(\w+): (.*)$/su.exec(each)!
          if (FRONTMATTER[key as keyof typeof FRONTMATTER] !== 'json') expect(rest).toMatch(scalar)
          // A list of plain words is JSON once these are quoted.
          else
            JSON.parse(
              rest!.replace(/"(?:[^"\\]|\\.)*"|[^[\], ]+/g, part =>
                part.startsWith('"') ? part : JSON.stringify(part),
              ),
            )
        }
      }),
      { numRuns: 300 },
    )
  })
})

const forms: Record<string, (given: string) => string> = {
  LF: given => given,
  CRLF: given => `\ufeff${given.replaceAll('\n', '\r\n')}`,
  mixed: given => given.replace(/\n/g, (newline, at: number) => (at % 3 === 0 ? '\r\n' : newline)),
  'no end': given => given.replace(/\n+$/, ''),
  'block lists and comments': given =>
    given
      .replace(/^tags: \[(.+)\]$/m, (all, items: string) =>
        /[",]/.test(items) ? all : `tags: # list\n  - ${items}\n  # done`,
      )
      .replace(/^priority: (..)$/m, 'x-foreign:\n  status: none\npriority: $1  # why')
      .replace(/^wave: .*\n/m, ''),
}

const change = fc.record({
  fields: fc
    .tuple(frontmatter, fc.subarray(Object.keys(FRONTMATTER)))
    .map(([fields, keys]) => Object.fromEntries(keys.map(key => [key, fields[key]]))),
  texts: fc.option(fc.record({ body: text }), { nil: undefined }),
  happened: fc.option(happening, { nil: undefined }),
})

describe.each(Object.entries(forms))('whatever is changed in a file (%s)', (_, form) => {
  test('it reads as it should, and every line that is not changed stays as it is', () => {
    fc.assert(
      fc.property(content, change, (given, { fields, texts, happened }) => {
        const before = form(todoFile.write(given))
        const was = read(before)
        const after = todoFile.edit(before, { fields, texts, happened: happened ? [happened] : [] })
        const is = read(after)
        expect(is.fields).toMatchObject({
          ...was.fields,
          ...values(fields),
          owner: expect.toBeOneOf([null, expect.any(String)]),
          identity: expect.toBeOneOf([null, expect.any(String)]),
        })
        expect(is.texts).toEqual(texts ? { body: lines(texts.body) } : was.texts)
        expect(is.history).toEqual([...was.history, ...(happened ? [told(happened)] : [])])
        const changed = Object.keys(fields).filter(
          key => JSON.stringify(was.fields[key]) !== JSON.stringify(is.fields[key]),
        )
        const others = (all: string) =>
          all
            .slice(0, all.search(/^---\r?\n\r?\n/m))
            .split(/(?<=\n)/)
            .filter(
              each =>
                !changed.some(key => each.startsWith(`${key}:`)) &&
                !(changed.includes('tags') && each.startsWith('  - ')),
            )
        expect(others(after)).toEqual(others(before))
        const rest = (all: string) => all.slice(all.search(/^---\r?\n\r?\n/m))
        if (!texts && !happened) expect(rest(after)).toBe(rest(before))
        if (!texts && before.endsWith('\n')) expect(rest(after).startsWith(rest(before))).toBe(true)
        if (!texts && happened)
          expect(rest(after).split(/(?<=\n)/).length).toBe(rest(before).split(/(?<=\n)/).length + 1)
        expect(after.endsWith('\n')).toBe(before.endsWith('\n'))
        expect(todoFile.edit(after, { fields, texts })).toBe(after)
        if (form === forms['LF']) expect(todoFile.write(is)).toBe(after)
      }),
      { numRuns: 400 },
    )
  })
})

describe('whatever stands in a file', () => {
  const good = todoFile.write({
    fields: {
      title: 'T',
      status: 'ready',
      schema_version: 2,
      priority: 'p1',
      issue_id: '001',
      tags: ['a', 'b: c'],
      resolution_reason: 'x "y"',
    },
    texts: { body: '## Problem Statement\n\n```\n# x\n```\n\n- [ ] y' },
    history: [{ at: '2026-01-01T00:00:00.000Z', from: null, to: 'ready', by: 'a', why: 'b|c' }],
  })
  const mutation = fc.record({
    at: fc.nat(good.length),
    cut: fc.nat(12),
    put: fc.oneof(
      nasty,
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom('\ntags:\n  - a\n', ' |\n  x\n', '\n\t', '"\n  ', '[\n'),
    ),
  })

  test('reading gives an answer, and what was read can be written and read again', () => {
    const mutated = fc
      .array(mutation, { minLength: 1, maxLength: 6 })
      .map(all => all.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), good))
    const bytes = fc.uint8Array({ maxLength: 300 }).map(all => new TextDecoder().decode(all))
    const framed = bytes.map(all => `---\nstatus: ready\n${all}\n---\n${all}`)
    fc.assert(
      fc.property(fc.oneof({ weight: 6, arbitrary: mutated }, bytes, framed), given => {
        const found = todoFile.read(given, name, list)
        if ('message' in found) {
          expect(found.line).toBeGreaterThan(0)
          expect(found.line).toBeLessThanOrEqual(given.split('\n').length)
          return
        }
        const again = read(todoFile.write(found))
        expect(again.fields).toEqual(found.fields)
        expect(again.history.length).toBe(found.history.length)
        expect(todoFile.edit(given, { fields: { status: found.fields['status'] } })).toBe(given)
      }),
      { numRuns: 2000 },
    )
  })

  const front = '---\nstatus: ready\n'
  test.each<[string, string]>([
    ['200 KB of spaces', ' '.repeat(200_000)],
    ['200 KB of line breaks', `${front}---\n${'\n'.repeat(200_000)}`],
    ['200 KB of spaces in the body', `${front}---\n# T\n\n${' '.repeat(200_000)}x\n${'\r'.repeat(200_000)}x`],
    ['64 KiB of dashes', '-'.repeat(65_536)],
    ['64 KiB of dashes in the frontmatter', `${front}${'- '.repeat(30_000)}\n---\n`],
    ['nested items', `${front}tags:\n${Array.from({ length: 350 }, (_, n) => `${' '.repeat(n)}-`).join('\n')}\n---\n`],
    ['100,000 short keys', `---\n${Array.from({ length: 100_000 }, (_, n) => `k${n}: 1`).join('\n')}\n---\n`],
    ['10,000 keys of one letter', `${front}${'a: \n'.repeat(10_000)}---\n`],
    ['30,000 list items', `${front}tags:\n${'- a\n'.repeat(15_000)}---\n`],
    ['a long open quote', `${front}tags: "${'\\\\'.repeat(30_000)}\n---\n`],
    ['a long folded quote', `${front}tags: "${'a\n '.repeat(20_000)}"\n---\n`],
    ['a long folded text', `${front}assigned_to: >\n${' a\n\n'.repeat(15_000)}---\n`],
    ['a long list left open', `${front}tags: [${'a, '.repeat(20_000)}\n---\n`],
    ['spaces before a comment', `${front}assigned_to: a${' '.repeat(60_000)}b #\n---\n`],
    ['comments', `${front}tags:\n${'# x\n'.repeat(15_000)}  - a\n---\n`],
    [
      'fences that nothing closes',
      `${front}---\n${Array.from({ length: 50_000 }, (_, n) => `\`\`\`${'`'.repeat(n % 7)}x`).join('\n')}`,
    ],
    [
      'fences of every length',
      `${front}---\n${Array.from({ length: 600 }, (_, n) => `${'~'.repeat(603 - n)} x`).join('\n')}\n${'```\n'.repeat(50_001)}`,
    ],
    ['headings', `${front}---\n${'## Status History\n'.repeat(20_000)}`],
    ['rows in fences', `${front}---\n## Status History\n${'```\n|\n```\n'.repeat(20_000)}`],
    ['a long row', `${front}---\n## Status History\n| a | b | c | ${'\\| '.repeat(50_000)}`],
    ['many cells', `${front}---\n## Status History\n${'|'.repeat(200_000)}`],
    ['a long heading', `${front}---\n# ${'a '.repeat(100_000)}\n##${' '.repeat(100_000)}x`],
  ])('reading takes no longer than it should: %s', (_, given) => {
    const start = performance.now()
    todoFile.read(given, name, list)
    expect(performance.now() - start).toBeLessThan(1000)
  })
})
