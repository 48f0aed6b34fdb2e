import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import { accountOf } from '../../src/worklogs/file/account.ts'
import {
  withChecked,
  withDecision,
  withOutcome,
  withSection,
  withSubtasks,
  withWard,
} from '../../src/worklogs/file/editing.ts'

const claimed = '2026-11-16T05:12:00.000Z'
const completed = '2026-11-16T05:40:00.000Z'
const begun = withSection('', {
  number: 1,
  subject: 'Escape the report',
  claimed,
  subtasks: ['find the place', 'test it'],
})

describe('what we write', () => {
  test('is a section as it is documented', () => {
    let body = begun
    body = withChecked(body, 1, 1)!
    body = withDecision(body, 1, '[arch] escaped at the exit,\nbecause the store keeps bytes')
    const files = ['src/report.ts', 'test/report.test.ts']
    body = withOutcome(body, 1, { status: 'completed', completed, files, ward: 'passed: npm test' })
    expect(body).toBe(`## Task #1: Escape the report

**Status**: completed
**Claimed**: 2026-11-16T05:12:00.000Z
**Completed**: 2026-11-16T05:40:00.000Z
**Files touched**: \`src/report.ts\`, \`test/report.test.ts\`
**Ward Result**: passed: npm test

- [x] find the place
- [ ] test it

### Decisions

- [arch] escaped at the exit, because the store keeps bytes`)
  })

  test('has only what there is to say', () => {
    const body = withSection('', { number: 2, subject: '', claimed, subtasks: [' ', ''] })
    expect(body).toBe('## Task #2\n\n**Status**: in_progress\n**Claimed**: 2026-11-16T05:12:00.000Z')
    expect(withOutcome(body, 2, { status: 'failed', failure: 'The compiler does not start.' })).toBe(
      '## Task #2\n\n**Status**: failed\n**Claimed**: 2026-11-16T05:12:00.000Z\n\n### Failure reason\n\nThe compiler does not start.',
    )
  })

  test('comes at the end, after a blank line', () => {
    const next = { number: 2, subject: 'b', claimed: '', subtasks: ['c'] }
    const section = '## Task #2: b\n\n**Status**: in_progress\n\n- [ ] c'
    expect(withSection('Some text', next)).toBe(`Some text\n\n${section}`)
    expect(withSection(begun, next)).toBe(`${begun}\n\n${section}`)
    expect(withSection('### Task #1: a', next)).toBe(`### Task #1: a\n\n#${section}`)
  })

  test('about a task is written to its last attempt', () => {
    const twice = withSection(begun, { number: 1, subject: 'Escape the report', claimed, subtasks: ['once more'] })
    const after = withChecked(twice, 1, 1)!
    expect(after.startsWith(begun)).toBe(true)
    expect(accountOf(after).sections.map(({ subtasks }) => subtasks.map(({ done }) => done))).toEqual([
      [false, false],
      [true],
    ])
  })

  test('puts decisions before the reason of a failure', () => {
    const failed = withOutcome(begun, 1, { status: 'failed', failure: 'x' })
    expect(withDecision(failed, 1, 'a')).toBe(failed.replace('### Failure', '### Decisions\n\n- a\n\n### Failure'))
  })

  test('is written once', () => {
    const decided = withDecision(begun, 1, 'a')
    expect(withDecision(decided, 1, ' a\n')).toBe(decided)
    expect(withSubtasks(decided, 1, ['find the place', 'test it'])).toBe(decided)
    expect(withSubtasks(begun, 1, ['a', 'a'])).toBe(`${begun}\n- [ ] a`)
    expect(withChecked(withChecked(begun, 1, 2)!, 1, 2)).toBe(withChecked(begun, 1, 2))
    const outcome = { status: 'completed', completed, files: ['a'], ward: 'ok', failure: 'b' } as const
    const done = withOutcome(begun, 1, outcome)
    expect(withOutcome(done, 1, outcome)).toBe(done)
    expect(withWard(done, 1, 'ok')).toBe(done)
  })

  test('is nothing where nothing is said', () => {
    expect(withDecision(begun, 1, ' \n')).toBe(begun)
    expect(withSubtasks(begun, 1, [])).toBe(begun)
    expect(withWard(begun, 1, '')).toBe(begun)
    const done = withOutcome(begun, 1, { status: 'completed', files: [], ward: '', failure: '', completed: '' })
    expect(done).toBe(begun.replace('in_progress', 'completed'))
  })
})

describe('what is not there', () => {
  test('a subtask is told by nothing', () => {
    for (const k of [0, -1, 3, 1.5, Number.NaN]) expect(withChecked(begun, 1, k)).toBe(undefined)
  })

  test('a task is a problem', () => {
    const problem = expect.objectContaining({ code: 'not_found', message: 'Task #2 is not in the worklog' })
    expect(() => withChecked(begun, 2, 1)).toThrow(problem)
    expect(() => withDecision(begun, 2, 'a')).toThrow(problem)
    expect(() => withWard(begun, 2, 'a')).toThrow(Problem)
  })
})

describe('what somebody wrote by hand', () => {
  test.each([
    ['Status: in_progress', 'Status: completed'],
    ['- status: wip', '- status: completed'],
    ['**Status:** doing', '**Status:** completed'],
    ['* **Status** : `active`  ', '* **Status** : completed  '],
    ['Status:', 'Status: completed'],
    ['__Status:__', '__Status:__ completed'],
    ['Status: started\nmore of it', 'Status: completed\nmore of it'],
    ['Status: ✅ done', 'Status: ✅ done'],
    ['Notes\n\n### More\n\nStatus: doing', 'Notes\n\n### More\n\nStatus: completed'],
    ['```\nStatus: doing\n```\nStatus: doing', '```\nStatus: doing\n```\nStatus: completed'],
  ])('%j keeps its spelling', (from, to) => {
    expect(withOutcome(`## Task 1: a\n\n${from}`, 1, { status: 'completed' })).toBe(`## Task 1: a\n\n${to}`)
  })

  test.each([
    ['**Status**: done\n**Ward Result**: x', '**Status**: done\n**Completed**: now\n**Ward Result**: x'],
    ['- Status: done\n- more', '- Status: done\n- Completed: now\n- more'],
    ['* __Status:__ done', '* __Status:__ done\n* __Completed:__ now'],
    ['Ward: x\nStatus: done', 'Ward: x\nStatus: done\nCompleted: now'],
    ['Wards: x\nFiles touched: y', 'Wards: x\nStatus: completed\nCompleted: now\nFiles touched: y'],
  ])('%j gets a line like those that are there', (from, to) => {
    const after = withOutcome(`## Task 1: a\n\n${from}`, 1, { status: 'completed', completed: 'now' })
    expect(after).toBe(`## Task 1: a\n\n${to}`)
  })

  test.each([
    ['', '\n\n**Status**: completed'],
    ['\n- [ ] x', '\n\n**Status**: completed\n\n- [ ] x'],
    ['\n\nText', '\n\n**Status**: completed\n\nText'],
    ['\n## Task #2: b', '\n\n**Status**: completed\n\n## Task #2: b'],
  ])('%j without any gets it below the heading', (from, to) => {
    expect(withOutcome(`## Task 1: a${from}`, 1, { status: 'completed' })).toBe(`## Task 1: a${to}`)
  })

  test('a list of files becomes a line', () => {
    const from = '## Task #1: a\nFiles touched:\n- a.ts\n- b.ts\n\nText'
    expect(withOutcome(from, 1, { status: 'completed', files: ['c.ts'], ward: 'ok' })).toBe(
      '## Task #1: a\nStatus: completed\nFiles touched: `c.ts`\nWard Result: ok\n\nText',
    )
    const boxed = '## Task #1: a\nFiles touched:\n- a.ts\n    - [ ] b'
    expect(withOutcome(boxed, 1, { status: 'completed', files: ['c.ts'] })).toBe(
      '## Task #1: a\nStatus: completed\nFiles touched: `c.ts`\n- a.ts\n    - [ ] b',
    )
    expect(withWard(from, 1, 'ok')).toBe('## Task #1: a\nWard Result: ok\nFiles touched:\n- a.ts\n- b.ts\n\nText')
  })

  test.each([
    ['* [x] a\n  b\n* [ ] c\n\n  d\n\nText', '* [x] a\n  b\n* [ ] c\n\n  d\n* [ ] new\n\nText'],
    ['1. [x] a\n   - [ ] b\n9) [ ] c', '1. [x] a\n   - [ ] b\n9) [ ] c\n10) [ ] new'],
    ['  + [ ] a\n### More\n- b', '  + [ ] a\n  + [ ] new\n### More\n- b'],
    ['### Steps\n- [ ] a\n  ```\n  x\n  ```\n### More', '### Steps\n- [ ] a\n  ```\n  x\n  ```\n- [ ] new\n### More'],
    ['Text\n### Decisions\n- [ ] a', 'Text\n\n- [ ] new\n\n### Decisions\n- [ ] a'],
    ['Text\n**Decisions**:\n- a', 'Text\n\n- [ ] new\n\n**Decisions**:\n- a'],
    ['- [ ] a\n**Status**: done', '- [ ] a\n- [ ] new\n\n**Status**: done'],
  ])('%j gets a box among its boxes', (from, to) => {
    expect(withSubtasks(`## Task #1: a\n${from}`, 1, ['new'])).toBe(`## Task #1: a\n${to}`)
  })

  test.each([
    ['### Decisions\n* a\n  b\n\n### More', '### Decisions\n* a\n  b\n* new\n\n### More'],
    ['### Key decisions:\n1. a\n2. b\n---\nc', '### Key decisions:\n1. a\n2. b\n3. new\n\n---\nc'],
    ['### Decisions\n\nNone so far', '### Decisions\n\nNone so far\n\n- new'],
    ['### Decisions\n### More', '### Decisions\n\n- new\n\n### More'],
    ['**Decisions**:\n- a\n**Completed**: now', '**Decisions**:\n- a\n- new\n\n**Completed**: now'],
    ['**Decisions**: a', '**Decisions**: a\n\n- new'],
    ['### Decisions\n- a\n### Decisions\n- b', '### Decisions\n- a\n### Decisions\n- b\n- new'],
    ['Text\n\n## Notes', 'Text\n\n### Decisions\n\n- new\n\n## Notes'],
  ])('%j gets a decision among its decisions', (from, to) => {
    expect(withDecision(`## Task #1: a\n${from}`, 1, 'new')).toBe(`## Task #1: a\n${to}`)
  })

  test.each([
    ['### Failure\nold\n\nmore\n\n### More', '### Failure\n\nnew\n\n### More'],
    ['### Failure reason\n### More', '### Failure reason\n\nnew\n### More'],
    ['Text', 'Text\n\n### Failure reason\n\nnew'],
  ])('%j gets the reason of its failure', (from, to) => {
    const body = `## Task #1: a\nStatus: failed\n${from}`
    expect(withOutcome(body, 1, { status: 'failed', failure: 'new' })).toBe(`## Task #1: a\nStatus: failed\n${to}`)
  })
})

describe('text that looks like something else', () => {
  test.each([
    ['[ ] box', '- \\[ ] box'],
    ['- item', '- \\- item'],
    ['12. item', '- 12\\. item'],
    ['# heading', '- \\# heading'],
    ['```js', '- \\```js'],
    ['> quote', '- \\> quote'],
    ['<!-- comment', '- \\<!-- comment'],
    ['---', '- \\---'],
    ['--', '- \\--'],
    ['[a]: b', '- \\[a]: b'],
    ['\\[ ] escaped', '- \\\\[ ] escaped'],
    ['[arch] a', '- [arch] a'],
    ['**bold** and `code`', '- **bold** and `code`'],
    ['C:\\new', '- C:\\new'],
    ['\\d+', '- \\d+'],
  ])('%j is a decision', (text, line) => {
    const after = withDecision(begun, 1, text)
    expect(after.split('\n').at(-1)).toBe(line)
    expect(accountOf(after).sections[0]!.decisions).toEqual([text])
  })

  test.each([
    ['a\nb', '```\na\nb\n```'],
    ['# a', '```\n# a\n```'],
    ['- [ ] a', '```\n- [ ] a\n```'],
    ['a ```` b\n~~~', '`````\na ```` b\n~~~\n`````'],
    ['It said `x`: <y>', 'It said `x`: <y>'],
  ])('%j is the reason of a failure', (text, written) => {
    const after = withOutcome(begun, 1, { status: 'failed', failure: text })
    expect(after.endsWith(`### Failure reason\n\n${written}`)).toBe(true)
    expect(accountOf(after).sections[0]!.failure).toBe(text)
  })

  test('a fence that stands open above is not closed by ours', () => {
    const open = begun.replace('\n- [ ] test it', '\n\n```\nx')
    const after = withOutcome(open, 1, { status: 'failed', failure: 'a\nb' })
    expect(after.endsWith('### Failure reason\n\n~~~\na\nb\n~~~')).toBe(true)
  })

  test('what would close a comment that stands open is refused, and nothing is written', () => {
    const open = `${begun}\n\n<!-- to do`
    expect(() => withDecision(open, 1, 'a --> b')).toThrow(
      expect.objectContaining({ code: 'unreadable_file', hint: expect.stringContaining('never closed') }),
    )
    expect(accountOf(withDecision(open, 1, 'a -> b')).sections[0]!.decisions).toEqual(['a -> b'])
  })

  test('a subject is the whole subject', () => {
    for (const subject of ['a #', '#', 'a \\#', ': a', '- a', '1: b', 'C#', '**a**', '## Task #9: b']) {
      const body = withSection('', { number: 1, subject, claimed, subtasks: [] })
      expect(accountOf(body).sections.map(section => section.subject)).toEqual([subject])
    }
  })
})
