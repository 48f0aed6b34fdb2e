import fc from 'fast-check'
import { expect, test } from 'vitest'
import { carefully, todoFile } from '../../src/backlog/file/format.ts'
import { quickly } from '../../src/backlog/file/quick.ts'
import { FRONTMATTER, TODO_STATUSES } from '../../src/backlog/record.ts'
import type { Content } from '../../src/core/kind.ts'

const list = { workflow: 'work', session: 's1', source: 'review' }
const name = '007-pending-p1-x.md'

/** Words that are nearly plain: where one reader thinks it knows and the other knows better. */
const word = fc.oneof(
  fc.constantFrom(
    'null',
    'NULL',
    'Null',
    '~',
    'yes',
    'a b',
    'a  b',
    ' a',
    'a ',
    'x: y',
    'x #y',
    '#',
    '"q"',
    "'q'",
    '[]',
  ),
  fc.constantFrom(
    'src/a.ts',
    'A-1',
    '2026-11-15',
    '2026-11-15T09:30:00.000Z',
    '017',
    '-',
    'é',
    'C#',
    'a: ',
    'a\\b',
    '',
  ),
  fc.string({ maxLength: 8 }),
)
const history = [{ at: '2026-11-15T09:30:00.000Z', from: null, to: 'pending', by: 'ann', why: null }]
const content = fc.record({
  status: fc.constantFrom(...TODO_STATUSES),
  title: fc.oneof(word, fc.constantFrom('Escape it', 'A: b (c)')),
  body: fc.oneof(
    word,
    fc.constantFrom('```\n## Status History\n```', '## Findings\n\nx', '# Another\n\ntext', '~~~', '| a |'),
  ),
  values: fc.dictionary(
    fc.constantFrom(...Object.keys(FRONTMATTER).slice(4)),
    fc.oneof(word, fc.array(word), fc.nat()),
    { maxKeys: 4 },
  ),
})

test('what is read quickly is read as it is read carefully, also when someone has changed a few characters', () => {
  let quick = 0
  fc.assert(
    fc.property(content, fc.nat(2000), fc.nat(3), word, ({ status, title, body, values }, at, cut, put) => {
      const fields = { schema_version: 2, priority: 'p1', issue_id: '007', ...values, ...list, status, title }
      const text = todoFile.write({ fields, texts: { body }, history })
      const spaced = text.replace(/^# .*$/m, line => `${line} `)
      for (const one of [text, spaced, text.slice(0, at) + put + text.slice(at + cut)]) {
        const found = quickly(one)
        if (!found) continue
        quick++
        const { fields: all, texts, history: moves, last } = todoFile.read(one, name, list) as Content
        expect({ fields: all, texts, history: moves }).toEqual(carefully(one, name, list))
        expect(last ?? moves.at(-1)).toEqual(moves.at(-1))
      }
    }),
    { numRuns: 2000 },
  )
  expect(quick).toBeGreaterThan(500)
})

test('a todo as it is made and worked on is read quickly', () => {
  const filled = {
    source_ref: 'tmp/reviews/7/TOME.md',
    finding_id: 'SEC-001',
    tags: ['security'],
    created: '2026-11-15',
  }
  const fields = {
    schema_version: 2,
    status: 'ready',
    priority: 'p1',
    issue_id: '1007',
    ...list,
    ...filled,
    title: 'Escape it',
  }
  const text = todoFile.write({ fields, texts: { body: '## Problem Statement\n\nSee above.' }, history })
  expect(quickly(text)).toMatchObject({ fields: { title: 'Escape it', ...filled } })
})
