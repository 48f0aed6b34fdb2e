import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { frontmatterOf } from '../../src/core/yaml/frontmatter.ts'
import { nodeOf } from '../../src/core/yaml/value.ts'
import { accountOf } from '../../src/worklogs/file/account.ts'
import { overviewOf, progressOf } from '../../src/worklogs/progress.ts'
import { progressTable, summaryText } from '../../src/worklogs/summary.ts'
import { attempt, boxes, session, worked } from './accounts.ts'
import { blocks, lively, rows } from './gfm.ts'
import { hostile } from './hostile.ts'

const NOON = '2026-11-16T12:00:00.000Z'

describe('the summary of a session', () => {
  test('is in the documented form, to the last byte', () => {
    const alice = worked('alice', [
      attempt(1, {
        subtasks: boxes(true, false),
        ward: 'passed: npm test',
        decisions: ['[arch] Escaped at the exit, because the store keeps bytes'],
      }),
      attempt(2, { status: 'failed' }),
    ])
    const bob = worked('bob', [attempt(2, { ward: 'passed: npm test', decisions: ['No cache'] })], { role: 'test' })
    expect(summaryText(session(bob, alice), NOON)).toBe(`---
generated: 2026-11-16T12:00:00.000Z
plan: plans/report.md
workers: 2
total_tasks: 3
completed_tasks: 2
total_subtasks: 2
completed_subtasks: 1
unique_tasks: 2
unique_completed: 2
wards: claimed
---

# Work Session Summary

## Progress Overview

| Worker | Role | Tasks | Subtasks | Status |
|--------|------|-------|----------|--------|
| alice | implementation | 1/2 | 1/2 | completed |
| bob | test | 1/1 | 0/0 | completed |

## Key Decisions (across all workers)

- **alice**: \\[arch\\] Escaped at the exit, because the store keeps bytes
- **bob**: No cache
`)
  })

  test('names every file that could not be read, at its end', () => {
    const unread = [{ file: 'tmp/work/s/todos/b|b.md', line: 3, message: 'status stands here\na second time' }]
    const text = summaryText(overviewOf([worked('alice', [])], unread), NOON)
    expect(text.split('## Key Decisions')[1]).toBe(` (across all workers)

- No decisions recorded

## Not Included

- tmp/work/s/todos/b\\|b.md, line 3: status stands here a second time
`)
  })

  test('tells the same of a text, whoever wrote it', () => {
    const written = '## Task #1: A\n\n**Status**: completed\n\n- [x] s\n\n### Decisions\n\n- d\n'
    const byHand = '## task 1 - A\r\nStatus: done\r\n* [X] s\r\n### Key decisions:\r\n* d\r\n'
    const [one, other] = [written, byHand].map(body => {
      const progress = progressOf({ worker: 'w', role: 'test', status: 'active', plan_path: null }, accountOf(body))
      return summaryText(session(progress), NOON)
    })
    expect(other).toBe(one)
    expect(one).toContain('| w | test | 1/1 | 1/1 | active |')
    expect(one).toContain('- **w**: d\n')
  })

  test.each([
    ['null', [null]],
    ['plans/x.md', ['plans/x.md', null]],
    ['[a.md, b.md]', ['a.md', 'b.md', 'a.md']],
    ['"a: b # c"', ['a: b # c']],
    ['[a.md, "b, c.md"]', ['a.md', 'b, c.md']],
    ['"null"', ['null']],
  ])('says plan: %s', (wanted, plans) => {
    const workers = plans.map((plan_path, n) => worked(`w${n}`, [], { plan_path }))
    expect(summaryText(session(...workers), NOON)).toContain(`\nplan: ${wanted}\nworkers: `)
  })

  test('holds whatever workers write: nobody leaves the table, the list or the frontmatter', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ role: hostile, plan: hostile, decision: hostile }), { minLength: 1, maxLength: 4 }),
        texts => {
          const workers = texts.map(({ role, plan, decision }, n) =>
            worked(`w${n}`, [attempt(1, { decisions: [decision] })], { role, plan_path: plan }),
          )
          const unread = texts.map(({ role, plan }) => ({ file: role, line: 1, message: plan }))
          const text = summaryText(overviewOf(workers, unread), NOON)
          const front = frontmatterOf(text)
          if ('message' in front) throw new Error(front.message)
          expect(front.entries.map(({ key }) => key)).toEqual([
            'generated',
            'plan',
            'workers',
            'total_tasks',
            'completed_tasks',
            'total_subtasks',
            'completed_subtasks',
            'unique_tasks',
            'unique_completed',
            'wards',
          ])
          const plans = [...new Set(texts.flatMap(({ plan }) => plan || []))].map(plan =>
            plan.replaceAll('\0', '\ufffd').toWellFormed(),
          )
          expect(nodeOf(front.entries[1]!)).toMatchObject({ value: plans.length > 1 ? plans : (plans[0] ?? null) })
          const body = text.slice(front.after)
          expect(blocks(body).map(({ type }) => type)).toEqual([
            'heading',
            'heading',
            'table',
            'heading',
            'list',
            'heading',
            'list',
          ])
          expect(rows(body).map(row => row.length)).toEqual(texts.map(() => 5))
          const [, , , , decisions, , missing] = blocks(body)
          expect(decisions!.items?.length).toBe(texts.length)
          expect(missing!.items?.length).toBe(texts.length)
          expect(new Set(lively(blocks(body)))).toEqual(new Set(['heading', 'table', 'list', 'list_item', 'strong']))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('its table is what the pull request shows, with the escapes that are needed there', () => {
    const overview = session(worked('alice', [attempt(1)], { role: '@team' }))
    expect(progressTable(overview)).toContain('| alice | @team | 1/1 | 0/0 | completed |')
    expect(progressTable(overview, text => text.toUpperCase())).toContain('| ALICE | @TEAM | 1/1 | 0/0 | COMPLETED |')
  })
})
