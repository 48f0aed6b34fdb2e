import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accountOf } from '../../src/worklogs/file/account.ts'
import {
  type Outcome,
  withChecked,
  withDecision,
  withOutcome,
  withSection,
  withSubtasks,
  withWard,
} from '../../src/worklogs/file/editing.ts'
import type { TaskSection } from '../../src/worklogs/record.ts'
import { blocks } from './gfm.ts'
import { hostile } from './hostile.ts'

const STRUCTURE = [
  '## Task #1: x',
  '\n## Task #2: y\n',
  '### Decisions',
  '\n### Decisions\n- z\n',
  '### Failure reason\n',
  '**Status**: failed',
  '\n**Status**: completed\n',
  '**Decisions**:',
  '- [ ] ',
  '- [x] a',
  '\n- [ ] b',
  '[ ] ',
  '[x]',
  '\\[ ] ',
  '1. ',
  '1\\. ',
  '> ',
  '# ',
  ' #',
  '\\#',
  '```',
  '\n```\n',
  '\n~~~~\n',
  '    ',
  '\n    ',
  '***',
  '- - -',
  '[a]: b',
  '`a`, `b`',
  ', ',
  '``',
  'passed: npm test',
  'none',
]
const text = fc.oneof(
  hostile,
  fc.array(fc.constantFrom(...STRUCTURE), { maxLength: 4 }).map(parts => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)
const texts = fc.array(text, { maxLength: 3 })
const number = fc.integer({ min: 1, max: 3 })

/** What can be kept of a text on one line, told in other words than the code's. */
const line = (value: string) =>
  Array.from(value, character => {
    if (/^[\p{Cc}\p{Zl}\p{Zp}]$/u.test(character)) return ' '
    return /^[\ud800-\udfff]$/.test(character) ? '\ufffd' : character
  })
    .join('')
    .trim()
const lines = (values: readonly string[]) => [...new Set(values.map(line))].filter(value => value !== '')
const passage = (value: string) => {
  const all = Array.from(value, character => (/^[\0\ud800-\udfff]$/.test(character) ? '\ufffd' : character))
    .join('')
    .split('\n')
    .map(each => each.replace(/\r+$/, ''))
  while (all.length > 0 && /^[ \t\r]*$/.test(all[0]!)) all.shift()
  return all.join('\n').replace(/[ \t\r\n]+$/, '')
}

type Step =
  | { readonly do: 'begin'; readonly number: number; readonly subject: string; readonly subtasks: readonly string[] }
  | { readonly do: 'subtasks'; readonly number: number; readonly texts: readonly string[] }
  | { readonly do: 'check'; readonly number: number; readonly subtask: number }
  | { readonly do: 'decide'; readonly number: number; readonly text: string }
  | { readonly do: 'ward'; readonly number: number; readonly text: string }
  | { readonly do: 'outcome'; readonly number: number; readonly outcome: Outcome }

const outcome: fc.Arbitrary<Outcome> = fc.record({
  status: fc.constantFrom('completed' as const, 'failed' as const),
  completed: fc.option(fc.constantFrom('2026-11-16T05:40:00.000Z', 'now'), { nil: undefined }),
  files: fc.option(texts, { nil: undefined }),
  ward: fc.option(text, { nil: undefined }),
  failure: fc.option(text, { nil: undefined }),
})
const begin = fc.record({ do: fc.constant('begin' as const), number, subject: text, subtasks: texts })
const step: fc.Arbitrary<Step> = fc.oneof(
  begin,
  fc.record({ do: fc.constant('subtasks' as const), number, texts }),
  fc.record({ do: fc.constant('check' as const), number, subtask: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('decide' as const), number, text }),
  fc.record({ do: fc.constant('ward' as const), number, text }),
  fc.record({ do: fc.constant('outcome' as const), number, outcome }),
)

const claimed = '2026-11-16T05:12:00.000Z'

function done(body: string, one: Step): string {
  if (one.do === 'begin') return withSection(body, { ...one, claimed })
  if (one.do === 'subtasks') return withSubtasks(body, one.number, one.texts)
  if (one.do === 'check') return withChecked(body, one.number, one.subtask) ?? body
  if (one.do === 'decide') return withDecision(body, one.number, one.text)
  return one.do === 'ward' ? withWard(body, one.number, one.text) : withOutcome(body, one.number, one.outcome)
}

/** What a task is after a step. */
function after(task: TaskSection, one: Step): TaskSection {
  switch (one.do) {
    case 'begin':
      return task
    case 'subtasks': {
      const fresh = lines(one.texts).filter(each => !task.subtasks.some(subtask => subtask.text === each))
      return { ...task, subtasks: [...task.subtasks, ...fresh.map(each => ({ text: each, done: false }))] }
    }
    case 'check':
      return {
        ...task,
        subtasks: task.subtasks.map((subtask, n) => (n + 1 === one.subtask ? { ...subtask, done: true } : subtask)),
      }
    case 'decide':
      return { ...task, decisions: lines([...task.decisions, one.text]) }
    case 'ward':
      return { ...task, ward: line(one.text) || task.ward }
    default:
      return ended(task, one.outcome)
  }
}

function ended(task: TaskSection, { status, completed, files = [], ward = '', failure = '' }: Outcome): TaskSection {
  return {
    ...task,
    status,
    completed: completed ?? task.completed,
    files: lines(files).length > 0 ? lines(files) : task.files,
    ward: line(ward) || task.ward,
    failure: passage(failure) || task.failure,
  }
}

function begun(one: Extract<Step, { do: 'begin' }>): TaskSection {
  return {
    number: one.number,
    subject: line(one.subject),
    status: 'in_progress',
    claimed,
    completed: null,
    subtasks: lines(one.subtasks).map(each => ({ text: each, done: false })),
    files: [],
    ward: null,
    decisions: [],
    failure: null,
  }
}

describe('whatever is written, one after the other', () => {
  const written = (steps: readonly Step[], start: string) => {
    let body = start
    const tasks: TaskSection[] = []
    for (const one of steps) {
      const last = tasks.findLastIndex(task => task.number === one.number)
      if (one.do === 'begin') tasks.push(begun(one))
      else if (last < 0) continue
      else tasks[last] = after(tasks[last]!, one)
      body = done(body, one)
    }
    return { body, tasks }
  }

  test('is told as it was asked for, and nothing else', () => {
    const start = fc.constantFrom('', '# Log of alice\n\nNotes, `code`\n\n```sh\n## Task #1: no\n```', '- a\n- b')
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), start, (steps, given) => {
        const { body, tasks } = written(steps, given)
        expect(accountOf(body)).toEqual({ sections: tasks, decisions: [] })
        expect(body.startsWith(given)).toBe(true)
      }),
      { numRuns: 1500 },
    )
  })

  test('is the same for whoever reads markdown', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), steps => {
        const { body, tasks } = written(steps, '')
        const found = blocks(body)
        const headings = found.flatMap(({ type, depth }) => (type === 'heading' ? [depth] : []))
        expect(headings).toEqual(
          tasks.flatMap(({ decisions, failure }) => [
            2,
            ...(decisions.length > 0 ? [3] : []),
            ...(failure === null ? [] : [3]),
          ]),
        )
        const items = found.flatMap(({ type, items: all = [] }) => (type === 'list' ? all : []))
        expect(items.length).toBe(
          tasks.reduce((sum, { subtasks, decisions }) => sum + subtasks.length + decisions.length, 0),
        )
        expect(items.filter(item => 'task' in item && item.task).length).toBe(
          tasks.reduce((sum, { subtasks }) => sum + subtasks.length, 0),
        )
        const others = found.filter(({ type }) => !['heading', 'list', 'paragraph', 'code'].includes(type))
        expect(others).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('changes nothing when it is written again', () => {
    fc.assert(
      fc.property(begin, fc.array(step, { maxLength: 5 }), step, (first, steps, one) => {
        const { body } = written([first, ...steps, { ...one, number: first.number }], '')
        if (one.do !== 'begin') expect(done(body, { ...one, number: first.number })).toBe(body)
      }),
      { numRuns: 500 },
    )
  })
})

/** Blocks that people write, each whole in itself. */
const BLOCKS = [
  'Some text',
  'Some text\nand more of it',
  'Status: wip',
  '**Status**: in_progress\n**Claimed**: 2026-01-01',
  '- **Status:** doing\n- **Claimed:** now\n- Files touched:\n  - a.ts\n  - b.ts',
  '* status : active',
  'Files touched:\n- a.ts\n- b.ts (new)',
  'Files touched: a.ts, `b.ts`',
  'Ward result: not yet',
  '- [ ] a\n- [x] b',
  '* [ ] a\n    * [x] c\n\n  more',
  '1. [X] a\n2. [ ] b\n   text\nlazy',
  '- a\n- b\n  1. [ ] c',
  '  - [ ] d\n    ```\n    - [ ] e\n    ```',
  '```sh\n- [ ] no\n## Task #1: no\n```',
  '~~~\n```\n~~~',
  '<!-- - [ ] no -->',
  '<!--\n### Decisions\n-->',
  '> - [ ] no\n> Status: done',
  '    - [ ] no',
  '| a | b |\n|---|---|\n| c | d |',
  '---',
  '***',
  '### Notes',
  '#### Why',
  '### Decisions\n\n- a\n- b\n  c',
  '### Key decisions:\n1. a\n2. b',
  '### Decisions\nNo list',
  '### Decisions',
  '**Decisions**: a',
  '**Decisions:**\n* a\n* b',
  '**Notes**: x',
  '### Failure reason\n\nIt broke.',
  '### Failure\n```\nlog\n```',
  '## Other\n- [ ] elsewhere',
  '## Task #2: other\n\n- [ ] x',
  '## Task 1 - again',
  '## task #01',
]

describe('whatever somebody wrote by hand', () => {
  const hand = fc
    .array(fc.tuple(fc.constantFrom(...BLOCKS), fc.constantFrom('\n', '\n\n')), { maxLength: 8 })
    .map(all => `## Task #1: by hand\n${all.map(parts => parts.join('')).join('')}`.trimEnd())
  const change = step.filter(one => one.do !== 'begin').map(one => ({ ...one, number: 1 }))

  test('a change makes the change in its last section, and only that', () => {
    fc.assert(
      fc.property(hand, change, (body, one) => {
        const was = accountOf(body)
        const last = was.sections.findLastIndex(section => section.number === 1)
        const changed = done(body, one)
        const is = accountOf(changed)
        const wanted = after(was.sections[last]!, one)
        // A box can be put before others that stand among decisions.
        const sorted = ({ subtasks, ...rest }: TaskSection) => ({
          ...rest,
          subtasks: one.do === 'subtasks' ? subtasks.map(({ text: each }) => each).toSorted() : subtasks,
        })
        expect(sorted(is.sections[last]!)).toEqual(
          sorted(one.do === 'decide' ? decided(was.sections[last]!, one) : wanted),
        )
        expect(is.sections.toSpliced(last, 1)).toEqual(was.sections.toSpliced(last, 1))
        expect(is.decisions).toEqual(was.decisions)
        expect(done(changed, one)).toBe(changed)
      }),
      { numRuns: 3000 },
    )
  })

  test('a subtask, a check mark, a decision or a section leaves every line as it is', () => {
    const adding = change.filter(one => one.do === 'subtasks' || one.do === 'decide')
    fc.assert(
      fc.property(hand, fc.oneof(adding, begin), (body, one) => {
        const rest = done(body, one).split('\n')
        for (const each of body.split('\n')) {
          const at = rest.indexOf(each)
          expect(at).toBeGreaterThanOrEqual(0)
          rest.splice(0, at + 1)
        }
      }),
      { numRuns: 1000 },
    )
    fc.assert(
      fc.property(hand, fc.integer({ min: 1, max: 4 }), (body, subtask) => {
        const changed = withChecked(body, 1, subtask)
        if (changed === undefined) return
        const differing = changed.split('').filter((character, at) => character !== body[at])
        expect(changed.length).toBe(body.length)
        expect(differing.length).toBeLessThan(2)
      }),
      { numRuns: 500 },
    )
  })

  test('there is never a second line of a name', () => {
    fc.assert(
      fc.property(hand, outcome, (body, given) => {
        const count = (all: string) => all.match(/^[-*\s_]*status[\s*_]*:/gim)?.length ?? 0
        const changed = withOutcome(body, 1, { ...given, failure: undefined, ward: undefined, files: undefined })
        const { sections } = accountOf(body)
        const had = sections.findLast(section => section.number === 1)!.status !== 'unknown'
        if (had) expect(count(changed)).toBe(count(body))
        else expect(count(changed)).toBeLessThanOrEqual(count(body) + 1)
      }),
      { numRuns: 500 },
    )
  })

  /** Decisions by hand may be there twice; one that is added is not. */
  function decided(task: TaskSection, one: Extract<Step, { do: 'decide' }>): TaskSection {
    const words = line(one.text)
    if (words === '' || task.decisions.includes(words)) return task
    return { ...task, decisions: [...task.decisions, words] }
  }
})
