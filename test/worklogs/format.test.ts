import { describe, expect, test } from 'vitest'
import type { Content } from '../../src/core/kind.ts'
import { Problem } from '../../src/core/problem.ts'
import { worklogFile } from '../../src/worklogs/file/format.ts'
import { remarksOn } from '../../src/worklogs/file/remarks.ts'
import type { Worklog } from '../../src/worklogs/record.ts'

const list = { workflow: 'work', session: 's1' }
const ours = `---
worker: alice
role: implementation
status: active
plan_path: plans/report.md
---

## Task #1: Escape the report

**Status**: in_progress
`

function read(text: string, name = 'alice.md'): Content {
  const found = worklogFile.read(text, name, list)
  if ('message' in found) throw new Error(`line ${found.line}: ${found.message}`)
  return found
}
const complaint = (text: string, name = 'alice.md') => worklogFile.read(text, name, list)
const remarks = (text: string) => remarksOn(read(text).fields as unknown as Worklog)
const front = (lines: string) => `---\n${lines}\n---\n`

test('a file as it is documented is read, and written again byte for byte', () => {
  const content = read(ours)
  expect(content).toEqual({
    fields: {
      title: 'alice',
      owner: null,
      identity: 'work/s1/alice',
      workflow: 'work',
      session: 's1',
      worker: 'alice',
      file: 'alice.md',
      role: 'implementation',
      status: 'active',
      plan_path: 'plans/report.md',
      extra: null,
    },
    texts: { body: '## Task #1: Escape the report\n\n**Status**: in_progress' },
    history: [],
  })
  expect(worklogFile.write(content)).toBe(ours)
  expect(remarks(ours)).toEqual([])
})

test('a file without a body is its frontmatter', () => {
  const text = '---\nworker: bob\nrole: test\nstatus: completed\nplan_path: null\n---\n'
  expect(worklogFile.write(read(text, 'bob.md'))).toBe(text)
})

describe('the name of a file', () => {
  test('makes it a worker’s, whatever the letters of its ending', () => {
    for (const name of ['alice.md', 'A_1-b.MD', '-.md', '_x.md', 'con.md', 'ö.md', 'a b.md']) {
      expect(worklogFile.isItem(name)).toBe(true)
    }
    for (const name of ['_summary.md', '_Summary.MD', '.alice.md', '.md', 'alice.txt', 'alice.md.bak', 'review']) {
      expect(worklogFile.isItem(name)).toBe(false)
    }
    expect(read(ours, 'A_1-b.MD').fields).toMatchObject({ worker: 'A_1-b', file: 'A_1-b.MD' })
  })

  test.each([
    ['_x.md', 'reserved'],
    ['_.md', 'reserved'],
    ['con.md', 'device'],
    ['LPT1.md', 'device'],
    ['a b.md', 'letters, digits'],
    ['ö.md', 'letters, digits'],
    ['a.b.md', 'letters, digits'],
    [`${'a'.repeat(101)}.md`, '100 at most'],
  ])('%s cannot be a worker’s, and that is said', (name, why) => {
    expect(complaint(ours, name)).toEqual({ line: 1, message: expect.stringContaining(why) })
  })
})

describe('what somebody else wrote', () => {
  test.each<[string, string]>([
    ['a BOM', `\ufeff${ours}`],
    ['line breaks of two characters', ours.replaceAll('\n', '\r\n')],
    ['quotes', ours.replace('alice', '"alice"').replace('active', "'active'")],
    ['spaces at the ends', ours.replace(/(\w)\n/g, '$1  \n').replaceAll('---\n', '--- \n')],
    ['capital letters', ours.replace('worker:', 'Worker:').replace('status: active', 'STATUS: Active')],
    ['another order', ours.replace('worker: alice\n', '').replace('\n---\n\n', '\nworker: alice\n---\n\n')],
    ['no worker', ours.replace('worker: alice\n', '')],
    ['comments behind values', ours.replace('active', 'active # now')],
  ])('is read with %s', (_, text) => {
    const { fields, texts } = read(text)
    expect(fields).toEqual(read(ours).fields)
    expect(texts['body']!.replace(/ +$/gm, '')).toBe(read(ours).texts['body'])
  })

  test.each([
    ['active', 'active'],
    ['in_progress', 'active'],
    ['in progress', 'active'],
    ['Running', 'active'],
    ['working', 'active'],
    ['started', 'active'],
    ['completed', 'completed'],
    ['complete', 'completed'],
    ['done', 'completed'],
    ['finished', 'completed'],
    ['closed', 'completed'],
    ['interrupted', 'interrupted'],
    ['stopped', 'interrupted'],
    ['aborted', 'interrupted'],
    ['killed', 'interrupted'],
    ['cancelled', 'interrupted'],
    ['failed', 'unknown'],
    ['idle', 'unknown'],
    ['[active]', 'active'],
    ['[a, b]', 'unknown'],
    ['', 'unknown'],
    ['null', 'unknown'],
    ['unknown', 'unknown'],
  ])('has status %j', (word, status) => {
    expect(read(front(`status: ${word}`)).fields['status']).toBe(status)
  })

  test('has nothing where nothing is said', () => {
    expect(read(front('')).fields).toMatchObject({ role: null, plan_path: null, status: 'unknown', extra: null })
    expect(read('---\n---').texts).toEqual({ body: '' })
  })

  test.each<[string, string, number, string]>([
    ['no frontmatter', '# Alice\n', 1, 'no frontmatter'],
    ['nothing', '', 1, 'no frontmatter'],
    ['a frontmatter that is never closed', '---\nstatus: active\n', 1, 'never closed'],
    ['a line that is none', '---\nstatus: active\nwhat\n  is: this\n---\n', 3, 'not a line of the form'],
    ['a key twice', '---\nstatus: active\nStatus: done\n---\n', 3, 'a second time'],
    ['a map', '---\nrole: {a: b}\n---\n', 2, 'role: a map'],
    ['a NUL', '---\nrole: a\n---\n\n\0', 5, 'NUL'],
  ])('is complained of: %s', (_, text, line, message) => {
    expect(complaint(text)).toEqual({ line, message: expect.stringContaining(message) })
  })

  const foreign = front(
    'worker: bob # me\n# by hand\nrole: test\ntasks_completed: 3\nx-map:\n  status: inner\n\n  more: 1\nstatus: "on hold"\nsubtasks_total: 9',
  )

  test('is kept line by line for a file that is written anew', () => {
    const content = read(foreign)
    expect(content.fields['extra']).toEqual({
      lines: [
        'worker: bob # me',
        'status: "on hold"',
        '# by hand',
        'tasks_completed: 3',
        'x-map:',
        '  status: inner',
        '',
        '  more: 1',
        'subtasks_total: 9',
      ],
    })
    const written = worklogFile.write(content)
    expect(written).toBe(
      front(
        'worker: bob # me\nrole: test\nstatus: "on hold"\nplan_path: null\n# by hand\ntasks_completed: 3\nx-map:\n  status: inner\n\n  more: 1\nsubtasks_total: 9',
      ),
    )
    expect(read(written)).toEqual(content)
  })

  test('is not kept where a status was said since', () => {
    const { fields, ...rest } = read(foreign)
    const written = worklogFile.write({ ...rest, fields: { ...fields, status: 'completed' } })
    expect(written).toContain('\nstatus: completed\n')
    expect(written).not.toContain('on hold')
  })

  test('is remarked on where it is passed over', () => {
    expect(remarks(foreign)).toEqual([
      'worker: "bob" is not the name of the file; taken as alice',
      'status: "on hold" is none of active, completed, interrupted; taken as unknown',
      'tasks_completed: counters are derived from the sections; ignored',
      'subtasks_total: counters are derived from the sections; ignored',
    ])
    const { fields } = read(foreign)
    expect(remarksOn({ ...fields, status: 'active' } as unknown as Worklog)).toHaveLength(3)
    expect(remarks(front('role: test'))).toEqual(['status: is missing; taken as unknown'])
  })

  test.each([
    'tasks_total',
    'Tasks-Completed',
    'completed_tasks',
    'total_subtasks',
    'subtasks_done',
    'decision_count',
    'counts',
  ])('%s is a counter', key => {
    expect(remarks(front(`status: active\n${key}: 4`))).toEqual([
      `${key}: counters are derived from the sections; ignored`,
    ])
  })

  test.each(['model', 'started', 'account', 'task', 'x-note', 'country'])('%s is none', key => {
    expect(remarks(front(`status: active\n${key}: 4`))).toEqual([])
  })

  test('that is no such lines at all is left out', () => {
    for (const lines of [['---'], ['a: 1', '---', 'b: 2'], ['\tx'], 'abc', null, [1]]) {
      const written = worklogFile.write({ ...read(ours), fields: { ...read(ours).fields, extra: { lines } } })
      expect(written).toBe(ours)
    }
  })
})

describe('a change', () => {
  const odd = `\ufeff---\r
# by hand\r
Worker: bob\r
status:   "running"   # for now\r
x: 1\r
role: >-\r
  long\r
  text\r
---\r
Text first.  \r
\r
## Task #1: a\r
status: active\r
`
  test.each<[string, Parameters<typeof worklogFile.edit>[1], string, string]>([
    [
      'of the status',
      { fields: { status: 'interrupted' } },
      'status:   "running"   # for now',
      'status: interrupted   # for now',
    ],
    ['of the role', { fields: { role: 'test' } }, 'role: >-\r\n  long\r\n  text', 'role: test'],
    [
      'of a key that is missing',
      { fields: { plan_path: 'a: b' } },
      '# for now\r\n',
      '# for now\r\nplan_path: "a: b"\r\n',
    ],
    [
      'of a line of the body',
      { fields: {}, texts: { body: 'Text first.  \n\n## Task #1: b\nstatus: active' } },
      'Task #1: a',
      'Task #1: b',
    ],
    [
      'of the end of the body',
      { fields: {}, texts: { body: 'Text first.  \n\n## Task #1: a\nstatus: active\n\nmore' } },
      'status: active\r\n',
      'status: active\r\n\r\nmore\r\n',
    ],
  ])('%s is made there and nowhere else', (_, change, from, to) => {
    expect(worklogFile.edit(odd, change)).toBe(odd.replace(from, to))
  })

  test('to what is there already changes nothing', () => {
    const { fields, texts } = read(odd)
    expect(worklogFile.edit(odd, { fields, texts })).toBe(odd)
    expect(worklogFile.edit(odd, { fields: { status: 'active', worker: 'carol' } })).toBe(odd)
  })

  test('never touches a word in the body', () => {
    const done = ours.replace('status: active', 'status: completed').replace('in_progress', 'x\nstatus: active')
    expect(worklogFile.edit(done, { fields: { status: 'interrupted' } })).toBe(
      done.replace('status: completed', 'status: interrupted'),
    )
  })

  test('of a file that has no status puts one in', () => {
    expect(worklogFile.edit(front('worker: alice'), { fields: { status: 'interrupted' } })).toBe(
      front('worker: alice\nstatus: interrupted'),
    )
    expect(worklogFile.edit('---\n---\n', { fields: { status: 'active' }, texts: { body: 'a' } })).toBe(
      '---\nstatus: active\n---\n\na\n',
    )
  })

  test('of a file that cannot be read is a problem', () => {
    expect(() => worklogFile.edit('---\nwhat\n---\n', { fields: {} })).toThrow(
      expect.objectContaining({ code: 'unreadable_file', hint: expect.stringContaining('line 2') }),
    )
    expect(() => worklogFile.edit('', { fields: {} })).toThrow(Problem)
  })
})
