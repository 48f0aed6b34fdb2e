import { describe, expect, test } from 'vitest'
import { todoFile } from '../../src/backlog/file/format.ts'
import { FRONTMATTER } from '../../src/backlog/record.ts'
import type { Content } from '../../src/core/kind.ts'
import { Problem } from '../../src/core/problem.ts'

const list = { workflow: 'work', session: 's1', source: 'review' }
const name = '007-pending-p1-fix-the-login.md'

function read(text: string, file = name): Content {
  const content = todoFile.read(text, file, list)
  if ('message' in content) throw new Error(`line ${content.line}: ${content.message}`)
  return content
}

function front(lines: string, rest = '\n# T\n'): string {
  return `---\nstatus: ready\n${lines}\n---\n${rest}`
}

const written = `---
schema_version: 2
status: in_progress
priority: p1
issue_id: "001"
source: review
source_ref: TOME.md
finding_id: SEC-001
finding_severity: null
tags: [security, "sql injection"]
dependencies: []
files: ["src/login.ts:12", src/db.ts]
assigned_to: worker-1
work_session: null
created: "2026-11-15"
updated: "2026-11-15"
resolution: null
resolution_reason: "no: not yet"
resolved_by: null
resolved_at: null
claimed_at: "2026-11-15T10:00:00.000Z"
completed_by: null
completed_at: null
mend_fixer_claim: null
duplicate_of: null
related_todos: []
workflow_chain: [review, work]
execution_order: 1
wave: null
---

# Fix the login

## Problem Statement

It is broken.

## Status History

| Timestamp | From | To | Actor | Reason |
|---|---|---|---|---|
| 2026-11-15T09:00:00.000Z | — | pending | reviewer |  |
| 2026-11-15T10:00:00.000Z | ready | in_progress | worker-1 | a \\| b \\\\ c |
`

describe('the file we write', () => {
  test('has one form, and reads as what was written', () => {
    const content = read(written)
    expect(todoFile.write(content)).toBe(written)
    expect(content).toMatchObject({
      fields: {
        title: 'Fix the login',
        status: 'in_progress',
        owner: 'worker-1',
        identity: '["work","s1","SEC-001","TOME.md"]',
        workflow: 'work',
        session: 's1',
        source: 'review',
        file: name,
        issue_id: '001',
        tags: ['security', 'sql injection'],
        dependencies: [],
        created: '2026-11-15',
        resolution_reason: 'no: not yet',
        execution_order: 1,
        wave: null,
        extra: null,
      },
      texts: { body: '## Problem Statement\n\nIt is broken.' },
      history: [
        { at: '2026-11-15T09:00:00.000Z', from: null, to: 'pending', by: 'reviewer', why: null },
        { at: '2026-11-15T10:00:00.000Z', from: 'ready', to: 'in_progress', by: 'worker-1', why: 'a | b \\ c' },
      ],
    })
    for (const key of Object.keys(FRONTMATTER)) expect(content.fields).toHaveProperty(key)
  })

  test.each([
    '001',
    '1e3',
    'e5',
    '2026-01-01',
    'yes',
    'No',
    'null',
    '~',
    'TRUE',
    '.5',
    '-1',
    '0x1f',
    '12:30',
    'a: b',
    'a #b',
    '#',
    '- x',
    '*a',
    '&a',
    '!x',
    '[a]',
    '{a}',
    '@a',
    '%',
    '`',
    '"',
    "'",
    '\\',
    ' a ',
    'a\nb',
    'a\u2028b',
    '\u0085',
    'a:',
    ',',
    '?',
    '|',
    '>',
  ])('quotes %j, which others would take for something else than text', value => {
    const text = todoFile.write({
      ...read(written),
      fields: { ...read(written).fields, assigned_to: value, tags: [value, value] },
    })
    expect(text).toContain(`\nassigned_to: "`)
    expect(text).toContain('\ntags: ["')
    expect(read(text).fields).toMatchObject({ assigned_to: value, tags: [value, value] })
  })

  test.each(['src/a.ts', 'worker-1', 'Session ended before completion', 'Ärger', 'review/003', "it's done, (really)"])(
    'leaves %s plain',
    value => {
      const text = todoFile.write({ ...read(written), fields: { ...read(written).fields, assigned_to: value } })
      expect(text).toContain(`\nassigned_to: ${value}\n`)
      expect(read(text).fields).toMatchObject({ assigned_to: value })
    },
  )
})

describe('names', () => {
  test.each(['001-pending-p1-x.md', '1000-x.md', '001.md', '001-x.MD', 'task-1.md', 'task-12-do-it.md'])(
    '%s is an item',
    file => {
      expect(todoFile.isItem(file)).toBe(true)
    },
  )
  test.each([
    '.001-x.md',
    '01-x.md',
    '001-x.md.tmp',
    '001x.md',
    '_summary.md',
    'worker-1.md',
    'Task-1.md',
    'task-a.md',
    '001-x.txt',
    '001-x.md~',
    '',
  ])('%s is not', file => {
    expect(todoFile.isItem(file)).toBe(false)
  })
  test('folders are values of list fields only where they can be', () => {
    expect(todoFile.admits('workflow', 'work')).toBe(true)
    expect(todoFile.admits('workflow', 'other')).toBe(false)
    expect(todoFile.admits('session', 'a b')).toBe(false)
    expect(todoFile.admits('source', 'pr-comment')).toBe(true)
    expect(todoFile.admits('source', 'PR')).toBe(false)
  })
})

describe('a file that others wrote', () => {
  const cases: Record<string, [text: string, fields: Record<string, unknown>]> = {
    'byte order mark, CRLF, trailing spaces': [
      '\ufeff---  \r\nstatus: ready  \r\npriority:   p3\t\r\n---\r\n\r\n# A title  \r\n\r\nText.\r\n',
      { status: 'ready', priority: 'p3', title: 'A title', issue_id: '007', schema_version: 1 },
    ],
    'mixed line breaks': ['---\r\nstatus: ready\ntags: [a]\r\n---\n# T\r\n', { status: 'ready', tags: ['a'] }],
    'single and double quotes': [
      front(`finding_id: 'it''s'\nsource_ref: "a\\tb\\x41\\u00e9\\U0001F600\\ud83d\\ude00 \\"q\\" \\/"`),
      { finding_id: "it's", source_ref: 'a\tbAé😀😀 "q" /' },
    ],
    'a block list, indented': [front('tags:\n  - a\n  - "b c"\n  - \'d\''), { tags: ['a', 'b c', 'd'] }],
    'a block list at the margin': [front('tags:\n- a\n- b: c'.replace('b: c', '"b: c"')), { tags: ['a', 'b: c'] }],
    'a block list with comments and blank lines': [
      front('tags: # these\n  # first\n  - a # one\n\n# second\n  - b\nwave: 2'),
      { tags: ['a', 'b'], wave: 2, extra: { lines: ['# first', '# second'] } },
    ],
    'a block list of folded texts': [
      front('tags:\n  - >-\n    one\n    two\n  - |\n    # three\n  - "four\n    five"\n  - six\n    seven'),
      { tags: ['one two', '# three', 'four five', 'six seven'] },
    ],
    'a list over several lines': [
      front('files: [a.ts,\n  "b,c.ts", # why\n  \'d\',\n]'),
      { files: ['a.ts', 'b,c.ts', 'd'] },
    ],
    'an empty list, and nothing': [
      front('tags: [ ]\nfiles: []\ndependencies:\nrelated_todos: ~'),
      { tags: [], files: [], dependencies: [], related_todos: [] },
    ],
    'words where a list is meant': [
      front('tags: a, b\nfiles: x.ts\ndependencies: "a, b"'),
      { tags: ['a', 'b'], files: ['x.ts'], dependencies: ['a, b'] },
    ],
    'nothing, in every spelling': [
      front('finding_id: null\nsource_ref: ~\nassigned_to:\nwork_session: ""\nresolution: \'\'\nresolved_by: # none'),
      {
        finding_id: null,
        source_ref: null,
        assigned_to: null,
        work_session: null,
        resolution: null,
        resolved_by: null,
        identity: null,
      },
    ],
    'values that look like others stay text': [
      front(
        'finding_id: 017\ncreated: 2026-01-01\nassigned_to: yes\nsource_ref: 1e3\nresolution_reason: Fixed: it works',
      ),
      {
        finding_id: '017',
        created: '2026-01-01',
        assigned_to: 'yes',
        source_ref: '1e3',
        resolution_reason: 'Fixed: it works',
      },
    ],
    'comments after values': [
      front('assigned_to: a#b  # who\nfinding_id: "x" # y\ntags: [a] # z'),
      { assigned_to: 'a#b', finding_id: 'x', tags: ['a'] },
    ],
    'unknown keys and comments, kept': [
      front('# a comment\nx-owner: &a {b: c}\nmap:\n  deep: 1\n\n  more: 2\nwave: 3\n"quoted key": x'),
      {
        wave: 3,
        extra: {
          lines: ['# a comment', 'x-owner: &a {b: c}', 'map:', '  deep: 1', '', '  more: 2', '"quoted key": x'],
        },
      },
    ],
    'a key in quotes, a space before the colon': [
      front('"wave": 3\nassigned_to : bob'),
      { wave: 3, assigned_to: 'bob' },
    ],
    'text folded by a dumper': [
      front(
        "resolution_reason: one two\n  three\n\n  four\nfinding_id: 'a ''b''\n\n  c'\nsource_ref: \"long text\\\n  \\ goes on\\\n  \\ here\"",
      ),
      { resolution_reason: 'one two three\nfour', finding_id: "a 'b'\nc", source_ref: 'long text goes on here' },
    ],
    'text in block form': [
      front(
        'resolution_reason: |\n  one\n    two\n\n  # three\nfinding_id: >-\n  a\n  b\n\n  c\n   d\n  e\nsource_ref: |2-\n    x\nassigned_to: >\n\nwave: 1',
      ),
      {
        resolution_reason: 'one\n  two\n\n# three',
        finding_id: 'a b\nc\n d\ne',
        source_ref: '  x',
        assigned_to: null,
        wave: 1,
      },
    ],
    'a value on the next line': [
      front('assigned_to:\n  bob\ntags:\n  [a, b]'),
      { assigned_to: 'bob', tags: ['a', 'b'] },
    ],
    'a number written otherwise': [front('issue_id: TODO-12'), { issue_id: '012' }],
    'a number without zeros': [front('issue_id: 1234'), { issue_id: '1234' }],
    'an id without a number': [front('issue_id: none'), { issue_id: '007' }],
    'whole numbers': [front('execution_order: "3"\nwave: 2.0'), { execution_order: 3, wave: 2 }],
    'a title in the frontmatter': [
      front('title: "From above"', '\nText.\n'),
      { title: 'From above', extra: { lines: ['title: "From above"'] } },
    ],
    'a heading goes before a title in the frontmatter': [front('title: above'), { title: 'T' }],
    'a title from the name': [front('wave: 1', ''), { title: 'fix the login' }],
    'a heading in code is no title': [
      front('wave: 1', '\n```\n# no\n```\n~~~~ x\n# no\n~~~\n~~~~\n\n# Yes\n'),
      { title: 'Yes' },
    ],
    'a shorter fence closes nothing': [front('wave: 1', '\n````\n```\n# no\n````\n\n# Yes\n'), { title: 'Yes' }],
    'code in a line begins no block': [front('wave: 1', '\n```x```\n\n# Yes\n\n```\n'), { title: 'Yes' }],
    'an escaped space at the end of a line': [front('source_ref: "a\\ \n  b"'), { source_ref: 'a  b' }],
    'the end of the frontmatter is the end of the file': [
      '---\nstatus: done\n---',
      { status: 'complete', title: 'fix the login' },
    ],
  }
  test.each(Object.entries(cases))('%s', (_, [text, fields]) => {
    const content = read(text)
    expect(content.fields).toMatchObject(fields)
    const again = read(todoFile.write(content))
    expect(again).toEqual(content)
  })

  test.each([
    ['Pending', 'pending'],
    ['to do', 'pending'],
    ['open', 'pending'],
    ['new', 'pending'],
    ['TODO', 'pending'],
    ['in progress', 'in_progress'],
    ['in-progress', 'in_progress'],
    ['Doing', 'in_progress'],
    ['done', 'complete'],
    ['Completed', 'complete'],
    ['closed', 'complete'],
    ['fixed', 'complete'],
    ["won't fix", 'wont_fix'],
    ['wontfix', 'wont_fix'],
    ['wont-fix', 'wont_fix'],
    ['cancelled', 'wont_fix'],
    ['canceled', 'wont_fix'],
    ['READY', 'ready'],
    ['Blocked', 'blocked'],
    ['interrupted', 'interrupted'],
  ])('status %s is %s', (word, status) => {
    expect(read(`---\nstatus: ${word}\n---\n`).fields['status']).toBe(status)
  })

  test.each([
    ['high', 'p1'],
    ['Critical', 'p1'],
    ['medium', 'p2'],
    ['low', 'p3'],
    ['P1', 'p1'],
    ['"P3"', 'p3'],
    ['1', 'p1'],
    ['2', 'p2'],
    ['3', 'p3'],
    ['', 'p2'],
    ['~', 'p2'],
  ])('priority %j is %s', (word, priority) => {
    expect(read(front(`priority: ${word}`)).fields['priority']).toBe(priority)
  })

  test.each([
    ['012.md', '012', '012'],
    ['task-3.md', '003', 'task-3'],
    ['task-3-do-it.md', '003', 'do it'],
    ['1000-ready-p2-a-b.md', '1000', 'a b'],
    ['001-some-name.md', '001', 'some name'],
  ])('the name %s tells number and title', (file, issue_id, title) => {
    expect(read('---\nstatus: ready\n---\nText.\n', file).fields).toMatchObject({ issue_id, title, file })
  })
})

describe('body and history', () => {
  const rest = (text: string) => read(front('wave: 1', text))

  test('text before the title is part of the body, and so is the title then', () => {
    const content = rest('\nBefore.\n\n# T\n\nAfter.\n')
    expect(content.texts['body']).toBe('Before.\n\n# T\n\nAfter.')
    expect(content.fields['title']).toBe('T')
    expect(read(todoFile.write(content))).toEqual(content)
  })

  test('a fence that nothing closes does not hide the history', () => {
    const content = rest(
      '\n# T\n\n```js\nx\n\n## Status History\n\n| Timestamp | From | To | Actor | Reason |\n|---|---|---|---|---|\n| a | — | ready | b | c |\n',
    )
    expect(content.history).toEqual([{ at: 'a', from: null, to: 'ready', by: 'b', why: 'c' }])
    expect(content.texts['body']).toBe('```js\nx')
  })

  test('the last heading of that name is the history, and none in code is', () => {
    const content = rest(
      '\n# T\n\n## Status History\n\n| x |\n\n## status history ##\n\nAs it was.\n\n```\n| no | — | ready | no | no |\n```\n\n| When | From | To | Who | Why |\n| :-- | -- | --- | --- | --- |\n| a | Pending | `in progress` | b | use a | b |\n| | | | | |\n|t|-|odd|w\n\n## Notes\n\n```\n## Status History\n```\n',
    )
    expect(content.history).toEqual([
      { at: 'a', from: 'pending', to: 'in_progress', by: 'b', why: 'use a | b' },
      { at: 't', from: null, to: 'odd', by: 'w', why: null },
    ])
    expect(content.texts['body']).toBe('## Status History\n\n| x |')
    expect(content.fields['extra']).toEqual({
      tail: 'As it was.\n\n```\n| no | — | ready | no | no |\n```\n\n## Notes\n\n```\n## Status History\n```',
    })
    expect(read(todoFile.write(content)).history).toEqual(content.history)
  })

  test('a body is read with LF, whatever the file has', () => {
    expect(rest('\r\n# T\r\n\r\n  a\r\n\r\nb  \r\n\r\n').texts['body']).toBe('  a\n\nb')
  })
})

describe('a file that cannot be read says where and why', () => {
  test.each<[string, string, number, string]>([
    ['no frontmatter', '# T\n', 1, 'no frontmatter'],
    ['empty', '', 1, 'no frontmatter'],
    ['never closed', '---\nstatus: ready\n# T\n', 1, 'never closed'],
    ['only the first line', '---', 1, 'never closed'],
    ['too long', `---\nstatus: ready\nx: ${'y'.repeat(65_536)}\n---\n`, 1, '64 KiB'],
    ['no status', '---\nwave: 1\n---\n', 1, 'status is missing; use one of pending, ready'],
    ['empty status', '---\nwave: 1\nstatus:\n---\n', 3, 'status is missing'],
    [
      'unknown status',
      '---\nwave: 1\nstatus: foo\n---\n',
      3,
      'status: "foo" is not a status; use one of pending, ready',
    ],
    ['inherited word', '---\nstatus: constructor\n---\n', 2, 'is not a status'],
    ['unknown priority', front('priority: p9'), 3, 'priority: "p9" is not a priority; use one of p1, p2, p3'],
    ['a key twice', front('wave: 1\nx: 1\nwave: 1'), 5, 'wave stands here a second time'],
    ['a map', front('tags:\n  a: b'), 4, 'a map stands'],
    ['a map in a list', front('tags:\n  - x\n  - a: b'), 5, 'a map stands'],
    ['a map in braces', front('tags: {a: b}'), 3, 'a map stands'],
    ['a map in brackets', front('tags: [a: b]'), 3, 'a map stands'],
    ['a list in a list', front('tags:\n  - - a'), 4, 'a list item'],
    ['a list in brackets in a list', front('tags:\n  - [a]'), 4, 'a list stands inside a list'],
    ['a list in brackets in brackets', front('tags: [a,\n  [b]]'), 4, 'inside a list'],
    ['an anchor', front('tags: &a [x]'), 3, 'an anchor'],
    ['an alias', front('assigned_to: *a'), 3, 'an anchor'],
    ['a tag', front('assigned_to: !!str x'), 3, 'an anchor'],
    ['an alias in a list', front('tags: [a, *b]'), 3, 'alias'],
    ['a list for a text', front('assigned_to: [a]'), 3, 'assigned_to: a list stands where one value is expected'],
    ['not a number', front('wave: soon'), 3, 'wave: "soon" is not a whole number'],
    ['a fraction', front('wave: 1.5'), 3, 'not a whole number'],
    ['a number too large', front(`issue_id: ${'9'.repeat(16)}`), 3, 'too large'],
    ['a tab', front('tags:\n\t- a'), 4, 'indented with a tab'],
    ['a tab after spaces', front('tags:\n  - b\n  \t- a'), 5, 'indented with a tab'],
    ['a quote left open', front('assigned_to: "a\nwave: 1'), 3, 'never closed'],
    ['a list left open', front('tags: [a\nwave: 1'), 3, 'never closed'],
    ['no comma', front('tags: ["a" "b"]'), 3, 'a comma is missing'],
    ['an unknown escape', front('assigned_to: "\\q"'), 3, 'cannot be read'],
    ['too large a character', front('assigned_to: "\\UFFFFFFFF"'), 3, 'cannot be read'],
    ['an escaped NUL', front('assigned_to: "a\\0"'), 3, 'NUL'],
    ['half a character, escaped', front('tags: [a,\n "\\ud800"]'), 4, 'half a character'],
    ['text after a quote', front('assigned_to: "a" b'), 3, 'more text'],
    ['text below a value', front('assigned_to: "a"\n  b'), 4, 'more text'],
    ['text after a comment', front('assigned_to: a # b\n  c'), 4, 'does not fit'],
    ['text below a comment', front('assigned_to: a\n  # b\n  c'), 5, 'does not fit'],
    ['a map below a value', front('assigned_to: a\n  b: c'), 4, 'does not fit'],
    ['less indented', front('resolution_reason: |\n    a\n  b'), 5, 'indented less'],
    ['list items at odds', front('tags:\n    - a\n  - b'), 5, 'does not fit'],
    ['a line that is no key', front('just text'), 3, '"just text" is not a line of the form "key: value"'],
    ['no space after the colon', front('wave:1'), 3, '"wave:1" is not a line'],
    ['an item without a key', '---\n- a\nstatus: ready\n---\n', 2, 'is not a line'],
    ['NUL', front('wave: 1', '\n# T\n\na\0b\n'), 8, 'NUL'],
    ['half a character', front('wave: 1', '\n# T\ud800\n'), 6, 'half a character'],
    ['the line in a CRLF file', '\ufeff---\r\nwave: 1\r\nstatus: foo\r\n---\r\n', 3, 'status: "foo"'],
  ])('%s', (_, text, line, message) => {
    expect(todoFile.read(text, name, list)).toEqual({ line, message: expect.stringContaining(message) })
    expect(() => todoFile.edit(text, { fields: { wave: 9 } })).toThrow(Problem)
  })

  test('no number anywhere', () => {
    expect(todoFile.read('---\nstatus: ready\n---\n', 'x.md', list)).toEqual({
      line: 1,
      message: expect.stringContaining('issue_id'),
    })
  })
})
