import { describe, expect, test } from 'vitest'
import { todoFile } from '../../src/backlog/file/format.ts'
import { Problem } from '../../src/core/problem.ts'

const happened = { at: '2026-11-15T10:00:00.000Z', from: 'ready', to: 'blocked', by: 'w', why: 'a|b\nc' }
const row = '| 2026-11-15T10:00:00.000Z | ready | blocked | w | a\\|b c |'
const head = '| Timestamp | From | To | Actor | Reason |\n|---|---|---|---|---|'

const foreign = `---
# by hand
title: Mine
status:   "ready"   # for now
wave: 2 # soon
tags:
  - a
  # why b
  - b

issue_id: 7
files: [a.ts,
  b.ts]
resolution_reason: >-
  long
  text
x-map:
  status: inner
---
Text first.

# T

Body   with spaces  
more

## Status History
As it was.

| When | From | To | Who | Why |
|:-----|------|----|-----|-----|
| a    | -    | ready | me | |
trailing
`

const edits: Record<string, [change: Parameters<typeof todoFile.edit>[1], from: string, to: string]> = {
  'a value, its comment kept': [
    { fields: { status: 'blocked' } },
    'status:   "ready"   # for now',
    'status: blocked   # for now',
  ],
  'a plain value, its comment kept': [{ fields: { wave: null } }, 'wave: 2 # soon', 'wave: null # soon'],
  'a block list, a comment in it kept': [
    { fields: { tags: ['b', 'c d'] } },
    'tags:\n  - a\n  # why b\n  - b\n',
    'tags: [b, "c d"]\n  # why b\n',
  ],
  'a list over two lines': [{ fields: { files: [] } }, 'files: [a.ts,\n  b.ts]', 'files: []'],
  'a folded text': [
    { fields: { resolution_reason: null } },
    'resolution_reason: >-\n  long\n  text',
    'resolution_reason: null',
  ],
  'keys that are missing, each after the one before it': [
    {
      fields: { schema_version: 2, priority: 'p1', dependencies: ['review/001'], assigned_to: 'w', execution_order: 3 },
    },
    foreign.slice(0, foreign.indexOf('Text first')),
    `---
schema_version: 2
# by hand
title: Mine
status:   "ready"   # for now
priority: p1
wave: 2 # soon
tags:
  - a
  # why b
  - b
dependencies: [review/001]

issue_id: 7
files: [a.ts,
  b.ts]
assigned_to: w
resolution_reason: >-
  long
  text
execution_order: 3
x-map:
  status: inner
---
`,
  ],
  'a row': [
    { fields: {}, happened: [happened] },
    '| a    | -    | ready | me | |\n',
    `| a    | -    | ready | me | |\n${row}\n`,
  ],
  'a line of the body': [
    { fields: {}, texts: { body: 'Text first.\n\n# T\n\nBody   with spaces  \nmuch more' } },
    '\nmore\n',
    '\nmuch more\n',
  ],
  'nothing, where every value is the same': [
    {
      fields: {
        status: 'ready',
        wave: 2,
        issue_id: '007',
        tags: ['a', 'b'],
        files: ['a.ts', 'b.ts'],
        priority: 'p2',
        resolution_reason: 'long text',
        dependencies: [],
      },
      texts: { body: '\nText first.\n\n# T\n\nBody   with spaces  \nmore\n' },
    },
    '',
    '',
  ],
  'nothing, for fields that the file does not keep': [
    {
      fields: {
        owner: 'x',
        token: 3,
        leaseUntil: 'x',
        identity: 'x',
        revision: 2,
        title: 'x',
        file: 'x',
        workflow: 'x',
        session: 'x',
        extra: null,
      },
    },
    '',
    '',
  ],
}

const forms: Record<string, (text: string) => string> = {
  'as it is': text => text,
  'CRLF and a byte order mark': text => `\ufeff${text.replaceAll('\n', '\r\n')}`,
  'no line break at the end': text => text.replace(/\n$/, ''),
}

describe.each(Object.entries(forms))('an edit of a file, %s, changes', (_, form) => {
  test.each(Object.entries(edits))('%s', (__, [change, from, to]) => {
    expect(foreign).toContain(from)
    expect(todoFile.edit(form(foreign), change)).toBe(form(foreign.replace(from, () => to)))
  })
})

describe('an edit makes what is missing:', () => {
  const start = '---\nstatus: ready\n---\n'
  test.each<[string, string, Parameters<typeof todoFile.edit>[1], string]>([
    [
      'the history',
      `${start}\n# T\n`,
      { fields: {}, happened: [happened] },
      `${start}\n# T\n\n## Status History\n\n${head}\n${row}\n`,
    ],
    [
      'the history, without a line break at the end',
      `${start}# T`,
      { fields: {}, happened: [happened] },
      `${start}# T\n\n## Status History\n\n${head}\n${row}`,
    ],
    [
      'the history, after a blank line',
      `${start}# T\n\n`,
      { fields: {}, happened: [happened] },
      `${start}# T\n\n## Status History\n\n${head}\n${row}\n`,
    ],
    [
      'the table',
      `${start}# T\n## Status History\nText.\n`,
      { fields: {}, happened: [happened] },
      `${start}# T\n## Status History\n\n${head}\n${row}\n\nText.\n`,
    ],
    [
      'the table, at the end',
      `${start}# T\n## Status History`,
      { fields: {}, happened: [happened] },
      `${start}# T\n## Status History\n\n${head}\n${row}`,
    ],
    [
      'the first row',
      `${start}\n## Status History\n\n${head}`,
      { fields: {}, happened: [happened] },
      `${start}\n## Status History\n\n${head}\n${row}`,
    ],
    ['the body', `${start}# T\n`, { fields: {}, texts: { body: 'a\nb' } }, `${start}# T\n\na\nb\n`],
    [
      'the body before the history',
      `${start}# T\n\n## Status History\n\n${head}\n`,
      { fields: {}, texts: { body: 'a' } },
      `${start}# T\n\na\n\n## Status History\n\n${head}\n`,
    ],
    [
      'all of it',
      '---\r\nstatus: ready\r\n---',
      { fields: { status: 'blocked' }, texts: { body: 'a\nb' }, happened: [happened] },
      `---\nstatus: blocked\n---\n\na\nb\n\n## Status History\n\n${head}\n${row}`.replaceAll('\n', '\r\n'),
    ],
    [
      'an empty body',
      `${start}# T\n\na\n\n## Status History\n\n${head}\n`,
      { fields: {}, texts: { body: '' } },
      `${start}# T\n\n## Status History\n\n${head}\n`,
    ],
  ])('%s', (_, text, change, expected) => {
    expect(todoFile.edit(text, change)).toBe(expected)
  })
})

test('line breaks of lines that stay are kept, each as it is', () => {
  const text = '---\nstatus: ready\n---\n# T\n\na\r\nb\nc\r\nd\n\n## Status History\n'
  expect(todoFile.edit(text, { fields: {}, texts: { body: 'a\nb2\nb3\nc\nd' } })).toBe(text.replace('b\n', 'b2\nb3\n'))
  expect(todoFile.edit(text, { fields: {}, texts: { body: 'a\nb\nc\nd\ne' } })).toBe(text.replace('d\n', 'd\ne\n'))
  expect(todoFile.edit(text, { fields: {}, texts: { body: 'a\nb' } })).toBe(text.replace('c\r\nd\n', ''))
  expect(todoFile.edit(text, { fields: {}, texts: { body: 'a' } })).toBe(text.replace('b\nc\r\nd\n', ''))
  const short = '---\nstatus: ready\n---\n# T\n\na\r\nb'
  expect(todoFile.edit(short, { fields: {}, texts: { body: 'a' } })).toBe(short.replace('\r\nb', ''))
  expect(todoFile.edit(short, { fields: {}, texts: { body: 'a\nb\nc' } })).toBe(`${short}\nc`)
  const table = `${text}\n${head}\n| a | b | ready | c | d |\r\n`
  expect(todoFile.edit(table, { fields: {}, happened: [happened] })).toBe(`${table}${row}\n`)
  expect(todoFile.edit(text, { fields: {}, texts: { body: 'x\na\nb\nc\nd' } })).toBe(text.replace('a\r', 'x\na\r'))
})

test('keys in another order stay in it', () => {
  const text = '---\nstatus: ready\nschema_version: 1\nwave: 1\nsource: x\n---\n'
  expect(todoFile.edit(text, { fields: { schema_version: 2, priority: 'p1', wave: 2, tags: ['a'] } })).toBe(
    '---\nstatus: ready\npriority: p1\nschema_version: 2\nwave: 2\nsource: x\ntags: [a]\n---\n',
  )
})

test('an edit that would not read as it should is refused', () => {
  const text = '---\nstatus: ready\n---\nText.\n'
  expect(() => todoFile.edit(text, { fields: {}, texts: { body: '# A title\n\nText.' } })).toThrow(
    expect.objectContaining({ code: 'unreadable_file', hint: expect.stringContaining('by hand') }),
  )
  expect(() => todoFile.edit(text, { fields: { status: 'odd' } })).toThrow(Problem)
})
