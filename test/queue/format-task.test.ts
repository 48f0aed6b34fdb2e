import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PRIORITIES, TASK_TYPES } from '../../src/queue/record.ts'
import { type Definition, readTask, renderTask } from '../../src/queue/task-file.ts'

const whole: Definition = {
  id: 'req_0001',
  title: 'Convert the configs to YAML',
  type: 'Standard',
  priority: 'NORMAL',
  posted: '2026-01-25T14:30:22.000Z',
  targetWorker: 'claude_cli',
  session: 'monday',
  dependsOn: ['req_0002', 'req_0003_01'],
  writes: ['config', 'src/load.ts'],
  origin: 'work/default/review/001',
  discrete: 'yes',
  description: 'Every config.\n\n### Which\n\n- all of them',
  expectedResponse: 'One pull request.',
  entryCriteria: '- the parser is there',
  exitCriteria: '- tests are green',
  subtasks: '- analyse\n- convert',
  notes: 'None.',
}
const bare: Definition = {
  ...whole,
  targetWorker: '',
  session: null,
  dependsOn: [],
  writes: [],
  origin: null,
  discrete: null,
  entryCriteria: null,
  exitCriteria: null,
  subtasks: null,
  notes: null,
}
const name = 'req_0001_yaml_migration'
const head = '**Type:** Standard\n**Priority:** HIGH\n**Posted:** 2026-01-25'
const tail = '## Task Description\n\nDo it.\n\n## Expected Response\n\nA report.\n'

function read(text: string, directory = name): Definition {
  const task = readTask(text, directory)
  if ('message' in task) throw new Error(`line ${task.line}: ${task.message}`)
  return task
}

function complaint(text: string, directory = name): { line: number; message: string } {
  const task = readTask(text, directory)
  if (!('message' in task)) throw new Error('it was read')
  return task
}

describe('a task file as it is written', () => {
  test('has one form', () => {
    expect(renderTask(bare)).toBe(`# Request #0001: Convert the configs to YAML

**Type:** Standard
**Priority:** NORMAL
**Posted:** 2026-01-25T14:30:22.000Z

## Task Description

Every config.

### Which

- all of them

## Expected Response

One pull request.
`)
  })

  test('has a place for everything optional', () => {
    expect(renderTask({ ...whole, id: 'req_0001_02' })).toMatch(
      /^# Request #0001_02: [^]*\n\*\*Target Worker:\*\* claude_cli\n\*\*Session:\*\* monday\n\*\*Depends On:\*\* req_0002, req_0003_01\n\*\*Writes:\*\* config, src\/load\.ts\n\*\*Origin:\*\* work\/default\/review\/001\n\*\*Discrete:\*\* yes\n\n## Task Description\n[^]*\n## Entry Criteria\n[^]*\n## Exit Criteria\n[^]*\n## Subtasks\n\n- analyse\n- convert\n\n## Notes\n\nNone\.\n$/,
    )
  })

  test.each([
    ['a heading of ours', '## Notes\n\nforged'],
    ['a title of ours', '# Request #0007: other'],
    ['a header line', '**Priority:** CRITICAL'],
    ['a fence that is never closed', 'see\n```ts\n## Notes'],
    ['a fence with a heading in it', '```\n## Notes\n\\## x\n```\nafter'],
    ['a fence that a later text could close', '~~~~\ncode'],
    ['a backslash before a heading', '\\## Notes\n\\\\# x\n\\```'],
    ['a frontmatter', '---\npriority: CRITICAL\n---'],
    ['inline code of three backticks', '```a``` and\n# b'],
  ])('reads as it was meant when a text has %s', (_what, text) => {
    const task = { ...whole, description: text, expectedResponse: text, notes: text }
    expect(read(renderTask(task))).toEqual(task)
  })
})

describe('a task file that others wrote', () => {
  test.each([
    [
      'a byte order mark and CRLF',
      `\ufeff# Request #0001: T\r\n\r\n${head}\r\n\r\n${tail}`.replaceAll(/\r?\n/g, '\r\n'),
    ],
    [
      'trailing spaces',
      `# Request #0001: T  \n\n${head.replaceAll('\n', '  \n')}  \n\n${tail.replaceAll('\n', ' \n')}`,
    ],
    ['the colon after the stars', `# Request #0001: T\n\n${head.replaceAll(':**', '**:')}\n\n${tail}`],
    [
      'other case',
      `# request #0001: T\n\n${head.toUpperCase()}\n\n${tail.replace('Task Description', 'TASK description')}`,
    ],
    ['another order', `${tail}\n# Request #0001: T\n`.replace('## Task', `${head}\n\n## Task`)],
    ['an id with its prefix', `# Request req_0001: T\n${head}\n${tail}`],
    ['a dash after the number', `# Request #0001 - T\n${head}\n${tail}`],
    ['a plain title', `# T\n${head}\n${tail}`],
    ['the number without zeros', `# Request #1: T\n${head}\n${tail}`],
    [
      'headers as a list',
      `# T\n\n- **Type:** standard\n- **Priority:** high\n- **Posted:** 2026-01-25T00:00Z\n\n${tail}`,
    ],
    [
      'more than we know',
      `# T\n\n**Colour:** red\n${head}\n\nHello.\n\n## Background\n\n**Type:** Odd\n\n${tail}\n## Risks\n\nx\n`,
    ],
    ['headings in fenced code', `# T\n${head}\n\n\`\`\`\n## Task Description\n**Type:** Odd\n\`\`\`\n\n${tail}`],
  ])('is read with %s', (_what, text) => {
    expect(read(text)).toMatchObject({
      title: 'T',
      type: 'Standard',
      priority: 'HIGH',
      posted: '2026-01-25T00:00:00.000Z',
      description: 'Do it.',
      expectedResponse: 'A report.',
    })
  })

  test.each([
    ['without bold', head.replaceAll('**', '')],
    ['without bold, in other case, with words behind', 'type: STANDARD\nPRIORITY : P1 - soon\nPosted: 2026-01-25'],
    ['in italics', '*Type:* Standard\n_Priority_: high\n*Posted*: 2026-01-25'],
    ['in code', '`Type`: `Standard`\n`Priority:` `HIGH`\n`Posted`: 2026-01-25'],
    ['as a list without bold', '* Type: standard\n* Prio: High!\n* Posted: 2026-01-25'],
    ['in a quotation', '> Type: standard\n> Priority: **P1**\n> Posted: 2026-01-25'],
    ['in bold, with prose of that form before it', `type: nothing of ours\n${head}\nPosted: it was`],
  ])('is read with headers %s', (_what, headers) => {
    expect(read(`# T\n\n${headers}\n\n${tail}`)).toMatchObject({
      type: 'Standard',
      priority: 'HIGH',
      posted: '2026-01-25T00:00:00.000Z',
    })
  })

  test('may have another type: it is kept as it is written', () => {
    const typed = (type: string) => read(`# T\n${head.replace('Standard', type)}\n${tail}`)
    expect(['Feature', '*bug fix*', 'maintenance ', '重构'].map(type => typed(type).type)).toEqual([
      'Feature',
      'bug fix',
      'Maintenance',
      '重构',
    ])
    expect(typed('Feature').remark).toBeUndefined()
  })

  test.each([
    ['CRITICAL', 'P0 p-0 critical Blocker: highest emergency!'],
    ['URGENT', 'urgent URGENT! asap Immediate'],
    ['HIGH', 'p1 P1 [P1] P1/urgent high important **High**'],
    ['NORMAL', 'P2 normal Medium med moderate none default'],
    ['LOW', 'P3 P4 low minor Lowest trivial'],
  ])('has the priority %s in any of its words', (meant, words) => {
    for (const word of [...words.split(' '), `🔴 ${meant.toLowerCase()} - see below`]) {
      const { priority, remark } = read(`# T\n${head.replace('HIGH', word)}\n${tail}`)
      expect([word, priority, remark]).toEqual([word, meant, undefined])
    }
  })

  test.each(['banana', '1', 'not urgent', '🔴', 'P9'])('counts as NORMAL with the priority %s, and says so', word => {
    const { priority, remark } = read(`# T\n${head.replace('HIGH', word)}\n${tail}`)
    expect(priority).toBe('NORMAL')
    expect(remark).toEqual({ line: 3, message: expect.stringMatching(/^Priority: ".*" is no priority; /) })
  })

  test.each([
    ['req_0002, req_0003', ['req_0002', 'req_0003']],
    ['req_0002 req_0003', ['req_0002', 'req_0003']],
    ['\n- req_0002\n- `#0003_01`', ['req_0002', 'req_0003_01']],
    ['req_0002_parser, req_0002', ['req_0002']],
    ['none', []],
    ['-', []],
    ['', []],
  ])('says with "%s" what it waits for', (text, ids) => {
    expect(read(`# T\n${head}\n**Depends On:** ${text}\n\n${tail}`).dependsOn).toEqual(ids)
  })

  test.each([
    ['2026-01-25T14:30:22+02:00', '2026-01-25T12:30:22.000Z'],
    ['2026-01-25 14:30', '2026-01-25T14:30:00.000Z'],
    ['2026-01-25T14:30:22.5-0330', '2026-01-25T18:00:22.500Z'],
  ])('was posted at %s', (text, time) => {
    expect(read(`# T\n${head.replace('2026-01-25', text)}\n${tail}`).posted).toBe(time)
  })

  test('may have a frontmatter with the same names', () => {
    const text = `---
title: "Request #0001: Convert: all"
type: research
priority: Urgent
posted: 2026-01-25T14:30:22Z
description: |
  One.

  Two.
expected_response: A report.
target_worker: codex_cli
session: monday
depends_on: [req_0002, req_0003]
discrete: yes
entry_criteria:
  - one
  - two
Exit Criteria: green
subtasks:
  - analyse
owner: { name: x }
---
`
    expect(read(text)).toEqual({
      ...bare,
      title: 'Convert: all',
      type: 'Research',
      priority: 'URGENT',
      description: 'One.\n\nTwo.',
      expectedResponse: 'A report.',
      targetWorker: 'codex_cli',
      session: 'monday',
      dependsOn: ['req_0002', 'req_0003'],
      discrete: 'yes',
      entryCriteria: '- one\n- two',
      exitCriteria: 'green',
      subtasks: '- analyse',
    })
    expect(
      read(`---\ntype: Testing\n---\n# Request #0001: T\n${head.replace('**Type:** Standard\n', '')}\n${tail}`),
    ).toMatchObject({
      title: 'T',
      type: 'Testing',
      priority: 'HIGH',
    })
  })
})

describe('a task file that cannot be read', () => {
  test('is told with everything that is missing', () => {
    expect(complaint('Hello')).toEqual({
      line: 1,
      message:
        'the title is missing; Type is missing; Priority is missing; Posted is missing; Task Description is missing; Expected Response is missing',
    })
  })

  test.each([
    [
      'a day that is none',
      `# T\n${head.replace('01-25', '02-30')}\n${tail}`,
      4,
      /^Posted: "2026-02-30" cannot be read/,
    ],
    ['a header twice', `# T\n${head}\n**Priority:** LOW\n${tail}`, 5, /^Priority stands here a second time/],
    [
      'an empty section',
      `# T\n${head}\n\n## Task Description\n\n## Expected Response\nx`,
      6,
      /^Task Description is missing$/,
    ],
    [
      'another id in its title',
      `\n# Request #0007: T\n${head}\n${tail}`,
      2,
      /^says it is #0007, its directory is req_0001_yaml_migration$/,
    ],
    ['another id in its frontmatter', `---\nid: req_0007\n---\n# T\n${head}\n${tail}`, 2, /^says it is req_0007/],
    [
      'words where ids should be',
      `# T\n${head}\n**Depends On:** the parser\n${tail}`,
      5,
      /^Depends On: "the" is no id/,
    ],
    ['itself to wait for', `# T\n${head}\n**Depends On:** #0001\n${tail}`, 5, /cannot wait for itself/],
    ['an open frontmatter', '---\ntype: Standard\n', 1, /never closed/],
    ['a frontmatter without end', `---\n${'a: b\n'.repeat(20_000)}---\n`, 1, /64 KiB/],
    ['a map in its frontmatter', '---\ntitle: T\ntype: { a: b }\n---\n', 3, /^Type: a map/],
    ['a NUL', `# T\n${head}\n\0${tail}`, 5, /NUL/],
    ['a title of a page', `# ${'x'.repeat(3000)}\n${head}\n${tail}`, 1, /^the title is longer than 2000/],
  ])('says so with %s, and the line', (_what, text, line, message) => {
    expect(complaint(text)).toEqual({ line, message: expect.stringMatching(message) })
  })

  test('belongs in a directory with an id', () => {
    expect(complaint(renderTask(bare), 'yaml').message).toMatch(/must be named req_/)
    expect(complaint(renderTask(bare), 'req_0002_x').message).toMatch(/says it is #0001, its directory is req_0002_x/)
    expect(complaint(renderTask(bare), 'req_0001_02_x').message).toMatch(/says it is #0001/)
  })
})

const nasty = fc.constantFrom(
  '#',
  '# ',
  '## ',
  '\n## Notes\n',
  '\n# Request #0009: x\n',
  '**Type:** Odd',
  '\n**Priority:** LOW\n',
  '---',
  '\n---\n',

  '```',
  '\n```\n',
  '\n~~~~\n',
  '\\',
  '\n\\## x',
  '\n\\\\```\n',
  ': ',
  '- ',
  '\n',
  '\r\n',
  '\r',
  '\t',
  '\n    ',
  '   # ',
  ' ',

  '\u2028',
  '\ufeff',
  '\u00a0',
  'e\u0301',
  '😀',
  '`',
  '~~~',
  '*',
  '#0007',
  'req_0009',
  '\0',
  '\n```a`b\n',
  '\n'.repeat(3),
)
const prose = fc.oneof(
  fc.array(fc.oneof(nasty, fc.string({ maxLength: 6 })), { maxLength: 10 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const fit = (text: string) => text.replaceAll('\0', '').toWellFormed()
/** What can be kept of a text, in other words than the code's. */
const lines = (text: string) => {
  const all = fit(text)
    .split('\n')
    .map(line => line.replace(/(?<!\r)\r+$/, ''))
  while (all.length > 0 && /^[ \t\r]*$/.test(all[0]!)) all.shift()
  while (all.length > 0 && /^[ \t\r]*$/.test(all.at(-1)!)) all.pop()
  return all.join('\n').replace(/(?<![ \t\r])[ \t\r]+$/, '')
}
const line = (text: string) =>
  fit(text)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
const filled = prose.map(lines).filter(text => text !== '')
const maybe = fc.option(filled, { nil: null })
const word = prose.map(line).filter(text => text !== '')
const definition: fc.Arbitrary<Definition> = fc.record({
  id: fc.constantFrom('req_0001', 'req_12345', 'req_0001_02', 'req_0001_02_03'),
  // A title of which nothing can be seen is none.
  title: word.filter(text => /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(text)),
  type: fc.constantFrom(...TASK_TYPES),
  priority: fc.constantFrom(...PRIORITIES),
  posted: fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map(date => date.toISOString()),
  targetWorker: fc.oneof(fc.constant(''), word),
  session: fc.option(word, { nil: null }),
  dependsOn: fc.uniqueArray(fc.constantFrom('req_0002', 'req_0003_01', 'req_9999'), { maxLength: 3 }),
  writes: fc.uniqueArray(fc.constantFrom('src', 'docs/a b.md', 'x/y/z.ts'), { maxLength: 3 }),
  origin: fc.option(word, { nil: null }),
  discrete: fc.option(word, { nil: null }),
  description: filled,
  expectedResponse: filled,
  entryCriteria: maybe,
  exitCriteria: maybe,
  subtasks: maybe,
  notes: maybe,
})

describe('whatever it says', () => {
  test('what is written is read again, and nothing in a text is taken for structure', () => {
    fc.assert(
      fc.property(definition, task => {
        const text = renderTask(task)
        expect(readTask(text, `${task.id}_x`)).toEqual(task)
        expect(readTask(`\ufeff${text}`, `${task.id}_x`)).toEqual(task)
      }),
      { numRuns: 2000 },
    )
  })

  test('any text is read or complained about, with a line that it has', () => {
    const mixed = fc.array(fc.oneof(nasty, prose, fc.constantFrom(`\n${head}\n`, `\n${tail}\n`, '# T\n')), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          mixed.map(parts => parts.join('')),
          fc.string({ unit: 'binary' }),
        ),
        text => {
          const task = readTask(text, name)
          if ('message' in task) expect(task.line).toBeLessThanOrEqual(text.split('\n').length)
          else expect(read(renderTask(task))).toEqual({ ...task, remark: undefined })
        },
      ),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['spaces', ' '],
    ['tabs', '\t'],
    ['returns', '\r'],
    ['blank lines', '\n'],
    ['backslashes', '\\'],
    ['stars', '*'],
    ['backticks', '`'],
    ['tildes', '~'],
    ['number signs', '#'],
    ['headings', '\n## Notes\n'],
    ['fences', '\n```\n'],
    ['open fences', '\n````x\n```\n'],
    ['header lines', '\n**Colour:** red'],
    ['list items', '\n- x'],
    ['commas', ', '],
    ['dashes', '- '],
  ])(
    'a file full of %s is read to its end',
    (_what, sign) => {
      const many = sign.repeat(Math.ceil(200_000 / sign.length))
      for (const text of [
        many,
        `# ${many}x\n${head}\n${tail}`,
        `# T\n${many}\n${head}\n${tail}`,
        `# T\n**Depends On:** ${many}x\n${head}\n${tail}`,
        `# T\n**Type${many}:** x\n- ${many}x\n${tail}`,
        `# T\n${head}\n## Task Description\n${many}x\n## Notes ${many}x\n`,
        `---\ntitle: ${many.slice(0, 60_000)}x\n---\n`,
      ])
        readTask(text, name)
    },
    5000,
  )
})
