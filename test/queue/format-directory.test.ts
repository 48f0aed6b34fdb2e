import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/core/kind.ts'
import { checkpoint, reply } from '../../src/queue/checkpoints.ts'
import { taskDirectory } from '../../src/queue/format.ts'
import { renderWaivers } from '../../src/queue/waivers.ts'

const id = 'req_0001'
const started = 'req_0001_20260125T143022_started'

function file(name: string, written = 1000, size = name.endsWith('.md') ? 10 : 0): Entry {
  return { name, size, isFile: true, written }
}

function evidence(entries: readonly Entry[], texts: Readonly<Record<string, string>> = {}) {
  return taskDirectory.evidence(id, entries, name => texts[name])
}

function verdict(entries: readonly Entry[], { status = 'in_progress', claimed = false } = {}) {
  return taskDirectory.verdict(id, status, entries, () => undefined, claimed)
}

describe('a flag', () => {
  test('is written with the id and the time in UTC', () => {
    const at = '2026-01-25T14:30:22.999Z'
    expect(taskDirectory.flag('req_0001_02', 'in_progress', at)).toBe('req_0001_02_20260125T143022_started')
    expect(taskDirectory.flag(id, 'completed', at)).toBe('req_0001_20260125T143022_completed')
    expect(taskDirectory.flag(id, 'cancelled', at)).toBe('req_0001_20260125T143022_cancelled')
    for (const status of ['staged', 'to_execute', 'error', 'toString'])
      expect(taskDirectory.flag(id, status, at)).toBeUndefined()
  })

  test.each([started, 'req_20260125T143022_started', 'req_0001_yaml_migration_20260125T143022_started'])(
    'named %s counts',
    name => {
      expect(evidence([file(name)])).toMatchObject({
        fields: { startedAt: '2026-01-25T14:30:22.000Z', finishedAt: null },
        complaints: [],
        claims: [name],
      })
    },
  )

  test.each([
    ['of another task', file('req_0002_20260125T143022_started'), 'is not a flag of req_0001'],
    ['of a part', file('req_0001_02_20260125T143022_started'), 'is not a flag of req_0001'],
    ['that is a directory', { ...file(started), isFile: false }, 'is not a regular file'],
    ['that is not empty', file(started, 1000, 3), 'is not empty'],
    ['without a time', file('req_0001_started'), 'is no flag'],
  ])('%s is named, and does not count', (_what, entry, why) => {
    const { fields, complaints, claims } = evidence([entry])
    expect(complaints).toEqual([expect.stringContaining(`${entry.name} ${why}`)])
    expect([fields['startedAt'], claims]).toEqual([null, []])
  })

  test('with a time that is none counts from when it was written', () => {
    expect(evidence([file('req_0001_20261399T999999_started')]).fields['startedAt']).toBe('1970-01-01T00:00:01.000Z')
  })

  test('below a folder is none', () => {
    expect(evidence([file(`artifacts/${started}`)])).toMatchObject({ complaints: [], claims: [] })
  })

  test('for a second start is named, and the newest counts', () => {
    const second = 'req_0001_20260126T000000_started'
    const { fields, complaints, claims } = evidence([file(second), file(started)])
    expect(fields['startedAt']).toBe('2026-01-26T00:00:00.000Z')
    expect(claims).toEqual([started, second])
    expect(complaints).toEqual([expect.stringContaining(`${started}, ${second}`)])
  })
})

describe('what the files of a task say', () => {
  test('when nothing is there: nothing', () => {
    expect(evidence([])).toEqual({
      fields: { startedAt: null, finishedAt: null, checkpoints: 0, awaiting: 0, waived: {}, verifiedAt: null },
      complaints: [],
      claims: [],
      ends: [],
    })
  })

  test('its end is that of the flag, or of the report of a failure since the start', () => {
    const end = (...entries: Entry[]) => evidence([file(started), ...entries]).fields['finishedAt']
    expect(end(file('req_0001_20260125T150000_completed'))).toBe('2026-01-25T15:00:00.000Z')
    expect(end(file('req_0001_20260125T150000_cancelled'))).toBe('2026-01-25T15:00:00.000Z')
    expect(end(file('req_0001_20260125T150000_error'))).toBe('2026-01-25T15:00:00.000Z')
    expect(end(file('error_report.md', 2000))).toBe('1970-01-01T00:00:02.000Z')
    expect(end(file('error_report.md', 500))).toBeNull()
    expect(evidence([file('error_report.md', 2000)]).fields['finishedAt']).toBeNull()
  })

  test('it waits for an answer until the last checkpoint that asks has one', () => {
    const asks = checkpoint(2, { at: '2026-01-25T14:30:22.000Z', by: 'w', summary: 's', needs: 'a key' })
    const goes = checkpoint(1, { at: '2026-01-25T14:30:22.000Z', by: 'w', summary: '**Status:** awaiting_input' })
    const texts = { 'checkpoint_001.md': goes, 'checkpoint_002.md': asks }
    const state = (...names: string[]) => {
      const { checkpoints, awaiting } = evidence(
        names.map(name => file(name)),
        texts,
      ).fields
      return [checkpoints, awaiting]
    }
    expect(state('checkpoint_001.md')).toEqual([1, 0])
    expect(state('checkpoint_002.md', 'checkpoint_001.md')).toEqual([2, 1])
    expect(state('checkpoint_001.md', 'checkpoint_002.md', 'checkpoint_001_reply.md')).toEqual([2, 1])
    expect(state('checkpoint_001.md', 'checkpoint_002.md', 'checkpoint_002_reply.md')).toEqual([2, 0])
    expect(reply(2, { at: '2026-01-25T14:30:22.000Z', by: 'w', text: 'here' })).toContain('# Reply to Checkpoint 002\n')
  })

  test('what it goes on without', () => {
    const waived = { req_0001_02: 'not needed', req_0007: '' }
    expect(evidence([file('waived.md')], { 'waived.md': renderWaivers(waived) }).fields['waived']).toEqual(waived)
  })

  test('what the task file says is in the fields', () => {
    const text = `# Request #0001: T\n\n**Type:** testing\n**Priority:** critical\n**Posted:** 2026-01-25\n**Depends On:** req_0002\n**Writes:** src/a/, \`docs\`\n**Origin:** work/default/review/001\n\n## Task Description\n\nx\n\n## Expected Response\n\ny\n`
    expect(taskDirectory.read(text, 'req_0001_x')).toEqual({
      fields: {
        title: 'T',
        type: 'Testing',
        priority: 'CRITICAL',
        rank: 0,
        posted: '2026-01-25T00:00:00.000Z',
        targetWorker: '',
        session: null,
        discrete: null,
        dependsOn: ['req_0002'],
        writes: ['src/a', 'docs'],
        origin: 'work/default/review/001',
      },
    })
    expect(taskDirectory.read('', 'req_0001_x')).toMatchObject({ line: 1, message: expect.stringContaining('missing') })
    expect(taskDirectory.named('req_0001_02_x')).toEqual({
      id: 'req_0001_02',
      fields: { slug: 'x', parent: 'req_0001', family: 1, number: 2 },
    })
    expect(taskDirectory.named('x')).toMatchObject({ message: expect.stringContaining('must be named') })
  })
})

describe('where a task in progress belongs', () => {
  const start = file(started)
  const completed = file('req_0001_20260125T150000_completed', 2000)

  test.each([
    ['completed, when it has that flag', [start, completed], 'completed', completed.name],
    [
      'completed, also when its clock went back',
      [start, file('req_0001_20260125T120000_completed', 500)],
      'completed',
      '_completed',
    ],
    [
      'cancelled, when it has that flag',
      [start, file('req_0001_20260125T150000_cancelled')],
      'cancelled',
      '_cancelled',
    ],
    ['error, when it has that flag', [start, file('req_0001_20260125T150000_error', 2000)], 'error', '_error'],
    [
      'error, when a report was written after the start',
      [start, file('error_report.md', 1001)],
      'error',
      'error_report.md',
    ],
    ['to_execute, when nobody started it', [file('notes.md')], 'to_execute', 'nobody'],
    ['to_execute, when only an older failure is told', [file('error_report.md')], 'to_execute', 'nobody'],
  ])('%s', (_what, entries, to, why) => {
    expect(verdict(entries)).toEqual({
      to,
      why: expect.stringContaining(why),
      // Only what no file says is early: a script may be about to say it.
      ...(to === 'to_execute' ? { isEarly: true } : {}),
    })
  })

  test.each([
    ['it was started', [start], {}],
    ['it is claimed', [], { claimed: true }],
    ['its report is from before a retry', [start, file('error_report.md', 999)], {}],
    ['its report is from before a retry, in the same instant', [start, file('error_report.md')], { claimed: true }],
    ['its flag does not count', [start, { ...completed, size: 1 }], {}],
    ['its flag is that of a part', [start, file('req_0001_02_20260125T150000_completed')], {}],
  ])('here, when %s', (_what, entries, how) => {
    expect(verdict(entries, how)).toBeUndefined()
  })

  test('a task that lies anywhere else is left there', () => {
    for (const status of ['staged', 'to_execute', 'completed', 'error', 'cancelled'])
      expect(verdict([start, completed], { status })).toBeUndefined()
  })
})
