import { describe, expect, test } from 'vitest'
import { hasHistory, type LogEntry, newBody, withLogEntry } from '../../src/backlog/file/body.ts'
import { todoFile } from '../../src/backlog/file/format.ts'

const all =
  '## Problem Statement\n\n## Findings\n\n## Proposed Solutions\n\n## Recommended Action\n\n## Acceptance Criteria\n\n## Work Log'

const entry: LogEntry = {
  date: '2026-11-15',
  phase: 'work',
  by: 'worker-1',
  actions: ['did it', 'did more'],
  learnings: [],
}
const written = '### 2026-11-15 - work\n\n**By**: worker-1\n\n**Actions**:\n- did it\n- did more'

describe('a new body', () => {
  test('has every section, in order', () => {
    expect(newBody(undefined)).toBe(all)
    expect(newBody(' \n\n')).toBe(all)
  })
  test('puts text without sections under the first', () => {
    expect(newBody('\nIt is broken.\r\n### Details\n\n```\n## not a section\n```\n')).toBe(
      all.replace('Statement', 'Statement\n\nIt is broken.\n### Details\n\n```\n## not a section\n```'),
    )
  })
  test('takes text with sections as it is, and adds what is missing after it', () => {
    expect(newBody('## Acceptance Criteria\n\n- [ ] a\n\n## findings\n\nx')).toBe(
      '## Acceptance Criteria\n\n- [ ] a\n\n## findings\n\nx\n\n## Problem Statement\n\n## Proposed Solutions\n\n## Recommended Action\n\n## Work Log',
    )
  })
  test('closes a fence that was left open', () => {
    expect(newBody('````js\nx')).toBe(all.replace('Statement', 'Statement\n\n````js\nx\n````'))
  })
})

test('a heading of the history is found outside code only', () => {
  expect(hasHistory('a\n## Status History')).toBe(true)
  expect(hasHistory('## status history ##\n')).toBe(true)
  expect(hasHistory('```\n## Status History\n```')).toBe(false)
  expect(hasHistory('    ## Status History')).toBe(false)
  expect(hasHistory('a ## Status History\n### Status History')).toBe(false)
})

describe('the work log', () => {
  test('gets entries at its end, other sections stay where they are', () => {
    const body = '## Work Log\n\n### old - one\n\n- x\n\n## After\n\ny'
    expect(withLogEntry(body, entry)).toBe(`## Work Log\n\n### old - one\n\n- x\n\n${written}\n\n## After\n\ny`)
    expect(withLogEntry(all, entry)).toBe(`${all}\n\n${written}`)
  })
  test('is made where there is none', () => {
    expect(withLogEntry('Text.', entry)).toBe(`Text.\n\n## Work Log\n\n${written}`)
    expect(withLogEntry('', entry)).toBe(`## Work Log\n\n${written}`)
    expect(withLogEntry('```\n## Work Log\n```', entry)).toBe(
      `\`\`\`\n## Work Log\n\`\`\`\n\n## Work Log\n\n${written}`,
    )
  })
  test('takes the same entry once, unless another came in between', () => {
    const once = withLogEntry('## Work Log\n\n## After', entry)
    expect(withLogEntry(once, entry)).toBe(once)
    const other = withLogEntry(once, { ...entry, phase: 'review', learnings: ['b'] })
    expect(other).toContain('**Learnings**:\n- b')
    expect(withLogEntry(other, { ...entry, phase: 'review', learnings: ['b'] })).toBe(other)
    expect(withLogEntry(other, entry).split(written)).toHaveLength(3)
  })
  test('takes text that looks like the structure of the file as text', () => {
    const hostile = {
      ...entry,
      by: 'a\n## Status History',
      actions: ['## Status History', '```\n  ## Work Log\n\n~~~', 'a\r\n# b\n   - c', ''],
    }
    const body = withLogEntry(all, hostile)
    expect(body).toContain(
      '**By**: a ## Status History\n\n**Actions**:\n- \\## Status History\n- \\```\n    \\## Work Log\n  \\~~~\n- a\n  \\# b\n     - c\n-',
    )
    expect(withLogEntry(body, hostile)).toBe(body)
    const happened = { at: 'now', from: null, to: 'ready', by: 'x', why: null }
    const fields = { title: 'T', status: 'ready', schema_version: 2, priority: 'p1', issue_id: '001' }
    const read = todoFile.read(todoFile.write({ fields, texts: { body }, history: [happened] }), '001.md', {})
    expect(read).toMatchObject({ texts: { body }, history: [happened] })
  })
})
