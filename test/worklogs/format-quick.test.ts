import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placesIn } from '../../src/worklogs/file/account.ts'
import { withChecked, withDecision, withOutcome, withSection } from '../../src/worklogs/file/editing.ts'
import { quickly } from '../../src/worklogs/file/quick.ts'
import { hostile } from './hostile.ts'

const claimed = '2026-11-16T05:12:00.000Z'
const completed = '2026-11-16T05:40:00.000Z'

/** What the reader for all texts says. */
function carefully(body: string) {
  const { sections, decisions } = placesIn(body)
  return { sections, decisions }
}

function ours(): string {
  let body = withSection('', { number: 1, subject: 'Escape the report', claimed, subtasks: ['find it', 'test it'] })
  body = withChecked(body, 1, 1)!
  body = withDecision(body, 1, '[arch] escaped at the exit')
  body = withDecision(body, 1, 'another one, because')
  body = withOutcome(body, 1, { status: 'completed', completed, files: ['a.ts', 'b.ts'], ward: 'passed: npm test' })
  body = withSection(body, { number: 2, subject: 'Sign the release', claimed, subtasks: [] })
  body = withOutcome(body, 2, { status: 'failed', failure: 'There is no key.' })
  body = withSection(body, { number: 2, subject: 'Sign the release', claimed, subtasks: ['ask for a key'] })
  return withDecision(body, 2, 'asked for one')
}

test('what we write is read quickly, and as by the reader for all texts', () => {
  for (const body of ['', ours(), `${ours()}\n`, `${ours()}\n\n`]) {
    expect(quickly(body)).toEqual(carefully(body))
    expect(quickly(body)).toBeDefined()
  }
})

test('a heading that is none is left to the reader for all texts', () => {
  expect(quickly(`${ours()}\nx## Task #5: y\n\n**Status**: done`)).toBe(undefined)
})

test('whatever is read quickly is read as by the reader for all texts', () => {
  const good = ours()
  const lines = good.split('\n')
  const line = fc.constantFrom(
    ...lines,
    '- [ ] ',
    '- [x]',
    '- [X] a ',
    '- [y] a',
    '- [a] b',
    '- [x] decided',
    '- a',
    '- 1. a',
    '-  a',
    '  b',
    '> a',
    '---',
    '### Decisions:',
    '### Failure reason',
    '**Status**: wip',
    '**Status:** done',
    '**Claimed**:  x',
    '**Files touched**:',
    '**Ward Result**: \u00a0x',
    '## Task #3: x #',
    '## Task #4',
    'x## Task #5: y',
    '- [ ] a ```',
    '```',
    '<!--',
    'a -->',
    '\r',
    '## Notes',
    '# Decisions',
    '    code',
  )
  const shuffled = fc
    .array(fc.record({ at: fc.nat(lines.length), cut: fc.nat(2), put: fc.array(line, { maxLength: 2 }) }), {
      maxLength: 3,
    })
    .map(all => all.reduce((now, { at, cut, put }) => now.toSpliced(at, cut, ...put), lines).join('\n'))
  const mutated = fc
    .array(fc.record({ at: fc.nat(good.length), cut: fc.nat(6), put: hostile }), { maxLength: 3 })
    .map(all => all.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), good))
  let quick = 0
  fc.assert(
    fc.property(fc.oneof(shuffled, mutated), body => {
      const found = quickly(body)
      if (!found) return
      quick++
      expect(found).toEqual(carefully(body))
    }),
    { numRuns: 5000 },
  )
  expect(quick).toBeGreaterThan(500)
})
