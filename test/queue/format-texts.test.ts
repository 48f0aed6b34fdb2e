import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkpoint,
  checkpointName,
  checkpointNumber,
  isAwaiting,
  readCheckpoint,
  reply,
  replyName,
} from '../../src/queue/checkpoints.ts'
import { errorReport, readErrorReport, rotated } from '../../src/queue/error-report.ts'
import { hasEntry, logged } from '../../src/queue/execution-log.ts'
import { readWaivers, renderWaivers } from '../../src/queue/waivers.ts'

const at = '2026-01-25T14:30:22.000Z'
const forging = fc
  .array(
    fc.constantFrom(
      'a',
      ' ',
      '\n',
      '## ',
      '# ',
      '**Status:** awaiting_input',
      '\n## Needs\n',
      '```',
      '\n~~~\n',
      '\\',
      '- ',
    ),
    { maxLength: 10 },
  )
  .map(parts =>
    parts
      .join('')
      .replace(/^(?:[ ]*\n)+/, '')
      .trimEnd(),
  )
const line = fc.string({ maxLength: 20 }).map(text => text.trim())

describe('a checkpoint', () => {
  test('says what was done, and what is needed', () => {
    expect(checkpoint(1, { at, by: 'worker-1', summary: 'Half of it.', needs: 'The key.' })).toBe(
      `# Checkpoint 001\n\n**Timestamp:** ${at}\n**Status:** awaiting_input\n**By:** worker-1\n\n## Summary\n\nHalf of it.\n\n## Needs\n\nThe key.\n`,
    )
    expect(checkpoint(12, { at, by: 'w', summary: 'x', needs: ' ' })).toMatch(
      /^# Checkpoint 012\n[^]*\*\*Status:\*\* in_progress\n[^]*x\n$/,
    )
    expect([checkpointName(1), replyName(1), checkpointName(1000)]).toEqual([
      'checkpoint_001.md',
      'checkpoint_001_reply.md',
      'checkpoint_1000.md',
    ])
    expect(
      ['checkpoint_007.md', 'checkpoint_7.md', 'checkpoint_007_reply.md', 'x_checkpoint_007.md'].map(checkpointNumber),
    ).toEqual([7, 7, undefined, undefined])
  })

  test.each([
    [
      'as the protocol has it',
      '# Checkpoint 001\n**Timestamp:** x\n**Status:** awaiting_input\n\n## Summary\nx\n',
      true,
    ],
    ['with CRLF and in other spelling', '# Checkpoint\r\n**status**: Awaiting Input\r\n', true],
    ['when work goes on', '# Checkpoint 001\n**Status:** in_progress\n', false],
    ['only in its text', '# Checkpoint 001\n\n## Summary\n\n**Status:** awaiting_input\n', false],
    ['only in code', '# Checkpoint 001\n```\n**Status:** awaiting_input\n```\n', false],
    ['not at all', '', false],
  ])('waits for an answer where it says so %s', (_what, text, awaits) => {
    expect(isAwaiting(text)).toBe(awaits)
  })

  test('reads as it was meant, whatever its text', () => {
    fc.assert(
      fc.property(forging, fc.option(forging, { nil: null }), (summary, needs) => {
        const text = checkpoint(1, { at, by: 'w', summary, needs })
        expect(readCheckpoint(text)).toEqual({ summary, needs: needs || null, awaiting: Boolean(needs?.trim()) })
      }),
      { numRuns: 1000 },
    )
  })

  test('has a reply that cannot be taken for another', () => {
    expect(reply(3, { at, by: 'me\n# x', text: '# Checkpoint 001' })).toBe(
      `# Reply to Checkpoint 003\n\n**Timestamp:** ${at}\n**By:** me # x\n\n## Reply\n\n\\# Checkpoint 001\n`,
    )
  })
})

describe('an error report', () => {
  test('says what happened, and what was tried', () => {
    expect(errorReport({ at, by: 'worker-1', type: 'timeout', what: 'It hung.', tried: 'Twice.' })).toBe(
      `# Error Report\n\n**Timestamp:** ${at}\n**Error Type:** timeout\n**By:** worker-1\n\n## What Happened\n\nIt hung.\n\n## What Was Tried\n\nTwice.\n`,
    )
  })

  test('reads as it was meant, whatever its text', () => {
    fc.assert(
      fc.property(forging, fc.option(forging, { nil: null }), (what, tried) => {
        expect(readErrorReport(errorReport({ at, by: 'w', type: 't', what, tried }))).toEqual({
          type: 't',
          what,
          tried: tried || null,
        })
      }),
      { numRuns: 1000 },
    )
  })

  test('takes the place of the one before, which is kept under the next number', () => {
    const keep = (texts: Record<string, string>, report: string) => ({ ...texts, ...rotated(texts, report) })
    let texts: Record<string, string> = { 'execution_log.md': 'x' }
    for (const report of ['one', 'two', 'three', 'three']) texts = keep(texts, report)
    expect(texts).toEqual({
      'execution_log.md': 'x',
      'error_report.md': 'three',
      'error_report_001.md': 'one',
      'error_report_002.md': 'two',
    })
    expect(Object.keys(rotated({ 'error_report.md': 'a', 'error_report_009.md': 'b' }, 'c'))).toEqual([
      'error_report_010.md',
      'error_report.md',
    ])
    expect(rotated({ 'error_report.md': 'a', 'error_report_001.md': 'a' }, 'c')).toEqual({ 'error_report.md': 'c' })
  })
})

describe('the execution log', () => {
  const entry = { at, by: 'worker-1', what: 'claimed', note: 'for an hour' }

  test('begins with its first entry', () => {
    expect(logged(undefined, entry)).toBe(`# Execution Log\n\n## ${at} - claimed\n\n**By:** worker-1\n\nfor an hour\n`)
    expect(logged('', { ...entry, note: null })).toBe(`# Execution Log\n\n## ${at} - claimed\n\n**By:** worker-1\n`)
  })

  test('keeps every byte that is there, and an entry once', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), forging), forging, (log, note) => {
        const once = logged(log, { ...entry, note })
        expect(once.startsWith(log)).toBe(true)
        expect(once.length).toBeGreaterThan(log.length)
        expect(hasEntry(once, { ...entry, note })).toBe(true)
        expect(logged(once, { ...entry, note })).toBe(once)
        const twice = logged(once, { ...entry, what: 'completed' })
        expect(twice.startsWith(once)).toBe(true)
        expect(logged(twice, { ...entry, note })).toBe(twice)
      }),
      { numRuns: 1000 },
    )
  })

  test('has an entry without a note beside one that has one', () => {
    const log = logged(undefined, entry)
    expect(logged(log, { ...entry, note: null })).not.toBe(log)
  })

  test('closes the code that somebody left open', () => {
    expect(logged('~~~~\ncode', entry)).toBe(
      `~~~~\ncode\n~~~~\n\n## ${at} - claimed\n\n**By:** worker-1\n\nfor an hour\n`,
    )
  })
})

describe('waivers', () => {
  test('are read as they were written', () => {
    expect(renderWaivers({ req_0001_02: 'not\nneeded' })).toBe('# Waived\n\n- **req_0001_02:** not needed\n')
    const ids = fc.constantFrom('req_0001', 'req_0001_02', 'req_12345')
    fc.assert(
      fc.property(fc.dictionary(ids, line), waived => {
        expect(readWaivers(renderWaivers(waived))).toEqual(waived)
      }),
      { numRuns: 1000 },
    )
  })

  test('are read from what others wrote, and nothing else is', () => {
    expect(
      readWaivers('\ufeff# waived\r\n* **req_0001**: why\r\n- **__proto__:** x\n- req_0002: y\n- **req_1:** z\n'),
    ).toEqual({ req_0001: 'why' })
  })
})
