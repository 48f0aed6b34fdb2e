import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { overviewOf } from '../../src/worklogs/progress.ts'
import { pullRequestSection } from '../../src/worklogs/pull-request.ts'
import { attempt, boxes, session, worked } from './accounts.ts'
import { blocks, lively, rows } from './gfm.ts'
import { hostile } from './hostile.ts'

const LISTS = /### Key Decisions\n([^]*)\n\n### Known Issues\n([^]*)\n\n<!-- \/punchlist/

function decisionsIn(section: string): string[] {
  return LISTS.exec(section)![1]!.split('\n')
}

function issuesIn(section: string): string[] {
  return LISTS.exec(section)![2]!.split('\n')
}

describe('the section of a pull request', () => {
  test('is in the documented form, to the last byte', () => {
    const alice = worked('alice', [
      attempt(1, { subtasks: boxes(true, false), decisions: ['No cache'] }),
      attempt(2, { status: 'failed', failure: 'The compiler\ndoes not start.', subtasks: boxes(true) }),
    ])
    const bob = worked('bob', [attempt(3, { status: 'in_progress', subtasks: boxes(false, false) })], {
      status: 'interrupted',
    })
    const unread = [{ file: 'tmp/work/s/todos/eve.md', line: 3, message: 'no frontmatter' }]
    expect(pullRequestSection(overviewOf([alice, bob], unread))).toBe(`<!-- punchlist:work-session -->
## Work Session

<details>
<summary>2 workers completed 1/3 tasks (2/5 subtasks)</summary>

| Worker | Role | Tasks | Subtasks | Status |
|--------|------|-------|----------|--------|
| alice | implementation | 1/2 | 2/3 | completed |
| bob | implementation | 0/1 | 0/2 | interrupted |

</details>

### Key Decisions
- **alice**: No cache

### Known Issues
- tmp/work/s/todos/eve.md could not be read, line 3: no frontmatter
- **alice**: task 2 (Subject 2) failed: The compiler does not start.
- **bob**: task 3 (Subject 3) was not finished; 2 of 2 subtasks open: step 1; step 2
- **alice**: task 1 (Subject 1) was completed with 1 of 2 subtasks open: step 2

<!-- /punchlist:work-session -->
`)
  })

  test('one worker is one worker, and nothing to tell is told as that', () => {
    const section = pullRequestSection(session(worked('alice', [attempt(1)])))
    expect(section).toContain('<summary>1 worker completed 1/1 tasks (0/0 subtasks)</summary>')
    expect(decisionsIn(section)).toEqual(['- No decisions recorded'])
    expect(issuesIn(section)).toEqual(['- None'])
  })

  test('decisions that are tagged come first, then the newest; of more than five it says how many there are', () => {
    const at = (hour: string, ...decisions: string[]) => ({ completed: `2026-11-16T${hour}`, decisions })
    const alice = worked('alice', [
      attempt(1, at('10:00:00Z', 'ten', '[Dep] tagged at ten')),
      attempt(2, at('12:30:00+02:00', 'half past ten')),
      attempt(3, { decisions: ['no time', '[arch-ive] no tag'] }),
      attempt(4, at('08:00:00Z', '[deviation] tagged at eight', 'as in [arch]')),
    ])
    const bob = worked('bob', [attempt(5, at('10:15:00Z', 'quarter past ten', 'later in the text'))], {
      decisions: ['**[ARCH]** without a time'],
    })
    expect(decisionsIn(pullRequestSection(session(alice, bob)))).toEqual([
      '- **alice**: \\[Dep\\] tagged at ten',
      '- **alice**: \\[deviation\\] tagged at eight',
      '- **bob**: \\*\\*\\[ARCH\\]\\*\\* without a time',
      '- **alice**: half past ten',
      '- **bob**: later in the text',
      '',
      '5 of 10 decisions',
    ])
  })

  test('a time that is none makes a decision old, and no zone is UTC, wherever it is read', () => {
    const of = (completed: string) => attempt(1, { completed, decisions: ['x'] })
    const overview = session(
      worked('a', [of('Tuesday 5')]),
      worked('b', [of('2026-11-16 09:00')]),
      worked('c', [of('2026-11-16T08:30:00Z')]),
      worked('d', [of('2026-11-16')]),
    )
    const { TZ } = process.env
    try {
      for (const zone of ['Asia/Tokyo', 'America/New_York']) {
        process.env['TZ'] = zone
        expect(decisionsIn(pullRequestSection(overview)).map(line => line.slice(4, 5))).toEqual(['b', 'c', 'd', 'a'])
      }
    } finally {
      if (TZ === undefined) delete process.env['TZ']
      else process.env['TZ'] = TZ
    }
  })

  test('exactly five decisions are all there are', () => {
    const section = pullRequestSection(session(worked('a', [attempt(1, { decisions: ['1', '2', '3', '4', '5'] })])))
    expect(decisionsIn(section).length).toBe(5)
  })

  test('a task that another worker completed is no issue; one that nobody completed is, for each of them', () => {
    const failed = { status: 'failed', failure: 'x' } as const
    const alice = worked('alice', [attempt(1, failed), attempt(2, failed), attempt(3, { status: 'unknown' })])
    const bob = worked('bob', [attempt(1), attempt(2, { status: 'in_progress' }), attempt(3)])
    expect(issuesIn(pullRequestSection(session(alice, bob)))).toEqual([
      '- **alice**: task 2 (Subject 2) failed: x',
      '- **bob**: task 2 (Subject 2) was not finished',
    ])
  })

  test('a task whose last attempt was completed is no issue, one whose ward failed is', () => {
    const alice = worked('alice', [
      attempt(1, { status: 'failed' }),
      attempt(1),
      attempt(2, { ward: 'failed: npm test (exit 1)' }),
      attempt(3, { status: 'failed', subject: '' }),
    ])
    expect(issuesIn(pullRequestSection(session(alice)))).toEqual([
      '- **alice**: task 3 failed: no reason given',
      '- **alice**: task 2 (Subject 2) was completed, its ward result is: failed: npm test (exit 1)',
    ])
  })

  test('of more than fifty issues it says how many more there are', () => {
    const failed = Array.from({ length: 52 }, (_, n) => attempt(n, { status: 'failed', failure: 'x' }))
    const alice = worked('alice', failed)
    const unread = [{ file: 'eve.md', line: 1, message: 'm' }]
    const issues = issuesIn(pullRequestSection(overviewOf([alice], unread)))
    expect(issues.length).toBe(51)
    expect(issues[0]).toContain('eve.md')
    expect(issues.at(-1)).toBe('- and 3 more')
    expect(issuesIn(pullRequestSection(session(worked('alice', failed.slice(0, 50))))).at(-1)).toContain('task 49')
  })

  test('holds whatever workers write, and none of it calls, closes, links or leaves its place', () => {
    const texts = fc.record({
      role: hostile,
      subject: hostile,
      decision: hostile,
      failure: hostile,
      step: hostile,
      file: hostile,
    })
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 3 }), written => {
        const workers = written.map(({ role, subject, decision, failure, step }, n) =>
          worked(
            `w${n}`,
            [
              attempt(1, { subject, ward: failure, subtasks: [{ text: step, done: false }], decisions: [decision] }),
              attempt(2, { subject, status: 'failed', failure, subtasks: [{ text: step, done: false }] }),
            ],
            { role },
          ),
        )
        const unread = written.map(({ file, failure }) => ({ file, line: 1, message: failure }))
        const section = pullRequestSection(overviewOf(workers, unread))
        const kinds = blocks(section).map(({ type }) => type)
        expect(kinds).toEqual([
          'html',
          'heading',
          'html',
          'table',
          'html',
          'heading',
          'list',
          'heading',
          'list',
          'html',
        ])
        expect(rows(section).map(row => row.length)).toEqual(written.map(() => 5))
        expect(blocks(section)[6]!.items?.length).toBe(written.length)
        expect(blocks(section)[8]!.items?.length).toBe(3 * written.length)
        expect(new Set(lively(blocks(section)))).toEqual(
          new Set(['html', 'heading', 'table', 'list', 'list_item', 'strong']),
        )
        expect(section.match(/<[^>]*>/g)).toEqual([
          '<!-- punchlist:work-session -->',
          '<details>',
          '<summary>',
          '</summary>',
          '</details>',
          '<!-- /punchlist:work-session -->',
        ])
        expect(section).not.toMatch(/@[a-z\d]|#\d|\bgh-\d|:\/\/|www\./i)
      }),
      { numRuns: 500 },
    )
  })
})
