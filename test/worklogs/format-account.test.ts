import { describe, expect, test } from 'vitest'
import { accountOf } from '../../src/worklogs/file/account.ts'

const nothing = {
  status: 'unknown',
  claimed: null,
  completed: null,
  subtasks: [],
  files: [],
  ward: null,
  decisions: [],
  failure: null,
}

/** The only section of a text. */
function only(body: string) {
  const { sections } = accountOf(body)
  expect(sections).toHaveLength(1)
  return sections[0]!
}
const inTask = (text: string) => only(`## Task #1: T\n\n${text}`)
const boxes = (text: string) => inTask(text).subtasks.map(({ text: words, done }) => `${done ? 'x' : '-'} ${words}`)
const decisions = (text: string) => inTask(text).decisions

test('a section as it is documented is told in all its parts', () => {
  const body = `## Task #1: Escape the report

**Status**: completed
**Claimed**: 2026-11-16T05:12:00.000Z
**Completed**: 2026-11-16T05:40:00.000Z
**Files touched**: \`src/report.ts\`, \`test/report.test.ts\`
**Ward Result**: passed: npm test

- [x] find the place
- [ ] write the test

### Decisions

- [arch] escaped at the exit, because the store keeps bytes

### Failure reason

The compiler does not start.
`
  expect(accountOf(body)).toEqual({
    sections: [
      {
        number: 1,
        subject: 'Escape the report',
        status: 'completed',
        claimed: '2026-11-16T05:12:00.000Z',
        completed: '2026-11-16T05:40:00.000Z',
        subtasks: [
          { text: 'find the place', done: true },
          { text: 'write the test', done: false },
        ],
        files: ['src/report.ts', 'test/report.test.ts'],
        ward: 'passed: npm test',
        decisions: ['[arch] escaped at the exit, because the store keeps bytes'],
        failure: 'The compiler does not start.',
      },
    ],
    decisions: [],
  })
})

test('an empty text tells nothing', () => {
  expect(accountOf('')).toEqual({ sections: [], decisions: [] })
})

describe('the heading of a task', () => {
  test.each([
    ['## Task #1: Escape the report', 1, 'Escape the report'],
    ['## Task 1: Escape', 1, 'Escape'],
    ['## Task #1 - Escape', 1, 'Escape'],
    ['## Task #1 – Escape', 1, 'Escape'],
    ['## Task #1. Escape', 1, 'Escape'],
    ['## Task #1:Escape', 1, 'Escape'],
    ['## task #01', 1, ''],
    ['## Task #12 Escape', 12, 'Escape'],
    ['##  TASK  #7 :  a: b ', 7, 'a: b'],
    ['## Task #1: Escape ##', 1, 'Escape'],
    ['## Task #1: C\\#', 1, 'C#'],
    ['## Task #1: C#', 1, 'C#'],
    ['## **Task #3: Escape**', 3, 'Escape'],
    ['## **Task #3**: Escape', 3, 'Escape'],
    ['## ✅ Task #3: Escape', 3, 'Escape'],
    ['   ## Task #3: Escape', 3, 'Escape'],
    ['## Task #3: Escape\r', 3, 'Escape'],
  ])('%j', (line, number, subject) => {
    expect(only(`${line}\n`)).toEqual({ number, subject, ...nothing })
  })

  test.each([
    '## Tasks',
    '## Task: x',
    '## Task #1a',
    '##Task #1: x',
    '    ## Task #1: x',
    '## The Task #1',
    '###### Task #1: x',
    'Task #1: x',
  ])('is not %j', line => {
    expect(accountOf(`${line}\n`).sections).toEqual([])
  })

  test('is none in an item', () => {
    expect(only('## Task #1: a\n\n1. b\n    - c\n\n      ## Task #2: d').number).toBe(1)
  })

  test('is of the second level; of another only where there is none of that', () => {
    const subjects = (body: string) => accountOf(body).sections.map(({ subject }) => subject)
    expect(subjects('# Task #1: a\n## Task #2: b\n### Task #3: c')).toEqual(['b'])
    expect(subjects('# Task #1: a\n### Task #3: c\n# Task #2: b')).toEqual(['a', 'b'])
    expect(subjects('# Log\n### Task #1: a\n#### Task #2: b\n### Task #3: c')).toEqual(['a', 'c'])
  })

  test('ends the section before it, as does any heading as high', () => {
    const { sections } = accountOf(
      '## Task #1: a\n- [ ] 1\n### Notes\n- [ ] 2\n## Notes\n- [ ] 3\n## Task #2: b\n- [ ] 4',
    )
    expect(sections.map(({ subtasks }) => subtasks.map(({ text }) => text))).toEqual([['1', '2'], ['4']])
  })

  test('may come again: both attempts are told', () => {
    const { sections } = accountOf('## Task #1: a\nStatus: failed\n## Task #1: a\nStatus: done')
    expect(sections.map(({ status }) => status)).toEqual(['failed', 'completed'])
  })
})

describe('a status', () => {
  test.each([
    ['**Status**: completed', 'completed'],
    ['**Status:** complete', 'completed'],
    ['Status: done', 'completed'],
    ['- Status: done', 'completed'],
    ['* **status** : DONE', 'completed'],
    ['1. __Status__: done', 'completed'],
    ['Status: ✅ **Completed** (all of it)', 'completed'],
    ['Status: `completed`', 'completed'],
    ['Status:completed', 'completed'],
    ['**Status**: in_progress', 'in_progress'],
    ['**Status**: In Progress', 'in_progress'],
    ['**Status**: in-progress, half of it', 'in_progress'],
    ['**Status**: active', 'in_progress'],
    ['**Status**: WIP', 'in_progress'],
    ['**Status**: started', 'in_progress'],
    ['**Status**: doing', 'in_progress'],
    ['**Status**: failed', 'failed'],
    ['**Status**: failure', 'failed'],
    ['**Status**: Error!', 'failed'],
    ['**Status**: not done', 'unknown'],
    ['**Status**: paused', 'unknown'],
    ['**Status**:', 'unknown'],
    ['**Statuses**: done', 'unknown'],
    ['Status done', 'unknown'],
    ['> **Status**: done', 'unknown'],
    ['    **Status**: done', 'unknown'],
    ['- [ ] Status: done', 'unknown'],
    ['- other\n  - Status: done', 'unknown'],
  ])('%j', (line, status) => {
    expect(inTask(line).status).toBe(status)
  })

  test('is the first that is said, though another comes later', () => {
    expect(inTask('**Status**: failed\n\n### Notes\n**Status**: done').status).toBe('failed')
    expect(inTask('### Notes\n**Status**: done').status).toBe('completed')
  })

  test('is not looked for among decisions or in the reason of a failure', () => {
    expect(inTask('### Decisions\n- Status: done\n\nStatus: done\n\n### Failure\nStatus: done').status).toBe('unknown')
  })

  test('may stand right below a check box', () => {
    const { status, subtasks } = inTask('- [x] a\n**Status**: done')
    expect({ status, subtasks }).toEqual({ status: 'completed', subtasks: [{ text: 'a', done: true }] })
  })
})

describe('other lines with a name', () => {
  test('times are as they were written', () => {
    expect(inTask('Claimed: `2026-01-01`\n**Completed at:** yesterday')).toMatchObject({
      claimed: '2026-01-01',
      completed: 'yesterday',
    })
  })

  test.each([
    '**Ward Result**: ok: 1',
    'Ward result: ok: 1',
    '- **Wards:** ok: 1',
    'wards: ok: 1',
    'Ward results : ok: 1',
  ])('%j', line => {
    expect(inTask(line).ward).toBe('ok: 1')
  })

  test('what the wards said is as it was written', () => {
    expect(inTask('**Ward Result**: **ok** ').ward).toBe('**ok**')
    expect(inTask('**Ward Result:** ok').ward).toBe('ok')
    expect(inTask('**Ward Result**:**ok**').ward).toBe('**ok**')
  })

  test.each<[string, string[]]>([
    ['**Files touched**: `a.ts`, `b.ts`', ['a.ts', 'b.ts']],
    ['Files touched: a.ts, b c.ts', ['a.ts', 'b c.ts']],
    ['Files touched: `a.ts` (new, large), b.ts (gone)', ['a.ts', 'b.ts']],
    ['Files touched: `a.ts` and `b.ts`', ['a.ts', 'b.ts']],
    ['Files touched: ``a`b.ts``, `c,d.ts`, `` ` ``', ['a`b.ts', 'c,d.ts', '`']],
    ['Files touched: `a.ts', ['`a.ts']],
    ['Files touched: ` a.ts `, `b.ts`', ['a.ts', 'b.ts']],
    ['Files touched: none', []],
    ['Files touched: —', []],
    ['Files touched: app/(auth)/page.ts', ['app/(auth)/page.ts']],
    ['Files touched:\n- a.ts\n- `b.ts`: now `c`\n\nmore\n\n- d.ts', ['a.ts', 'b.ts']],
    ['Files touched:\n\n* a.ts - new\n* b.ts\n- [ ] c.ts', ['a.ts', 'b.ts']],
    ['- **Files touched**:\n  - a.ts\n  - b.ts\n- c.ts', ['a.ts', 'b.ts']],
    ['- Files touched:\n- Ward Result: a.ts', []],
  ])('%j', (text, files) => {
    expect(inTask(text).files).toEqual(files)
  })
})

describe('check boxes', () => {
  test('count with every marker and at every depth of a list', () => {
    const list = '- [ ] a\n  * [x] b\n    + [X] c\n1. [ ] d\n   2) [x] e\n- f\n\t- [ ] g\n- - [x] h'
    expect(boxes(list)).toEqual(['- a', 'x b', 'x c', '- d', 'x e', '- g', 'x h'])
  })

  test('count below an item that they are indented too far for', () => {
    expect(boxes('- [ ] a\n        - [x] b')).toEqual(['- a', 'x b'])
  })

  test.each([
    ['in fenced code', '```\n- [ ] a\n```'],
    ['in fenced code with another fence in it', '````md\n```\n- [ ] a\n```\n- [ ] b\n````'],
    ['in fenced code with tildes', '~~~ x\n- [ ] a\n```\n~~~'],
    ['in fenced code in an item', '- a\n  ```\n  - [ ] b\n  ```\n- ```\n  - [ ] c\n  ```'],
    ['in fenced code that ends with its item', '- a\n  ```\n  - [ ] b\n\nno'],
    ['in indented code', 'a\n\n    - [ ] b'],
    ['in a comment', '<!-- a\n- [ ] b\n\n- [ ] c -->'],
    ['on the line where a comment ends', '<!--\n- [ ] a --> - [ ] b'],
    ['in a comment in an item', '- <!--\n  - [ ] a\n  -->'],
    ['in a quote', '> - [ ] a\n> \n> 1. [x] b'],
    ['in a quote in an item', '- > - [ ] a'],
    ['in fenced code in an item, whose end is not that', '- ```\n      ```\n  - [ ] a\n  ```'],
    ['in the middle of a line', 'a - [ ] b'],
    ['without a list', '[ ] a'],
    ['as a link', '- [x](y)'],
    ['with something else in it', '- [y] a\n- [] b\n-[ ] c'],
  ])('do not count %s', (_, text) => {
    expect(boxes(text)).toEqual([])
  })

  test('count outside of every section for nobody', () => {
    expect(accountOf('- [ ] a\n\n## Notes\n- [ ] b').sections).toEqual([])
  })

  test('count after a fence or a comment that nothing closes', () => {
    expect(boxes('```\n- [ ] a\n\n<!-- x\n- [x] b')).toEqual(['- a', 'x b'])
  })

  test('count after what only looks like a fence, and after the item that one stands open in', () => {
    expect(boxes('```a``` b\n- [ ] c\n\n```\n')).toEqual(['- c'])
    expect(boxes('- a\n  ```\n  - [ ] b\n\n- [ ] c')).toEqual(['- c'])
  })

  test('have the lines that go on with their text', () => {
    expect(boxes('- [ ] a\n  b\nc\n\n  d\n- [x]   e  \r')).toEqual(['- a b c', 'x e'])
  })

  test('among decisions are both', () => {
    expect(inTask('### Decisions\n- [x] a')).toMatchObject({ subtasks: [{ text: 'a', done: true }], decisions: ['a'] })
  })
})

describe('decisions', () => {
  test.each([
    '### Decisions',
    '### decisions:',
    '#### Key Decisions',
    '### Decisions made',
    '### **Decisions**',
    '### 🧭 Key decisions ###',
    '**Decisions**:',
    '**Key decisions:**',
    '**Decisions**',
    '__Decisions made__ :',
  ])('%j', heading => {
    expect(decisions(`${heading}\n\n- a\n- b\n`)).toEqual(['a', 'b'])
    expect(decisions(`${heading}\n- a\n- b\n`)).toEqual(['a', 'b'])
  })

  test('have their continuation lines and the bullets below them', () => {
    expect(decisions('### Decisions\n- a\n  b\nc\n\n  d\n  - e\n    f\n* g\n1. h\n2) i')).toEqual([
      'a b c d - e f',
      'g',
      'h',
      'i',
    ])
  })

  test('go on where the text of an item stands far from its marker', () => {
    expect(decisions('### Decisions\n-      a\n\n  b')).toEqual(['a b'])
  })

  test('do not go on with a quote', () => {
    expect(decisions('### Decisions\n- > a\nb\n- c')).toEqual(['c'])
  })

  test('without bullets are one for each paragraph', () => {
    expect(decisions('### Decisions\na\nb\n\nc\n- d')).toEqual(['a b', 'c', 'd'])
    expect(decisions('**Decisions**: a\nb\n\nc')).toEqual(['a b', 'c'])
  })

  test.each([
    ['a heading', '#### Why'],
    ['a rule', '---'],
    ['a rule of stars', '* * *'],
    ['a line with a name', '**Completed**: now'],
    ['another task', '## Notes'],
  ])('end at %s', (_, line) => {
    expect(decisions(`### Decisions\n- a\n${line}\n- b`)).toEqual(['a'])
  })

  test('without a heading end at the next label', () => {
    expect(decisions('**Decisions**:\n- a\n\n**Notes**: b')).toEqual(['a'])
  })

  test('leave out code, comments and quotes', () => {
    expect(decisions('### Decisions\n- a\n  ```\n  - b\n  ```\n<!-- c -->\n> d\ne\n\n- \\[ ] f')).toEqual([
      'a',
      '[ ] f',
    ])
  })

  test('outside of every section are told apart', () => {
    expect(accountOf('# Decisions\n- a\n## Task #1: x\n### Decisions\n- b\n## Decisions\n- c\n- d')).toEqual({
      sections: [{ number: 1, subject: 'x', ...nothing, decisions: ['b'] }],
      decisions: ['a', 'c', 'd'],
    })
  })
})

describe('the reason of a failure', () => {
  const reason = (text: string) => inTask(text).failure
  test.each(['### Failure reason', '### failure', '#### Reason for failure:', '### ❌ Failure Reason'])(
    '%j',
    heading => {
      expect(reason(`${heading}\n\na\n\n- b\n\n#### More\nc`)).toBe('a\n\n- b')
    },
  )

  test('is what stands in a fence where there is nothing else', () => {
    expect(reason('### Failure reason\n\n```\na\n\n  ## b\n```\n')).toBe('a\n\n  ## b')
    expect(reason('### Failure reason\n~~~~ text\n~~~\n~~~~\n### x')).toBe('~~~')
  })

  test('has its fences as they are where there is more', () => {
    expect(reason('### Failure reason\na\n```\nb\n```\n')).toBe('a\n```\nb\n```')
  })

  test('has no comments', () => {
    expect(reason('### Failure reason\n<!-- say why -->\na\n<!-- b -->')).toBe('a')
    expect(reason('### Failure reason\n<!-- say why -->')).toBe(null)
  })

  test('has its check boxes as text', () => {
    expect(inTask('### Failure reason\n- [ ] a')).toMatchObject({ subtasks: [], failure: '- [ ] a' })
  })
})

test('line breaks of two characters change nothing', () => {
  const body = '## Task #1: a\n\n**Status**: done\n\n- [x] b\n  c\n\n```\n- [ ] d\n```\n\n### Decisions\n\n- e\n'
  expect(accountOf(body.replaceAll('\n', '\r\n'))).toEqual(accountOf(body))
})
