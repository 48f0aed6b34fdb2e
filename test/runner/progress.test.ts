import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LiveArea } from '../../src/cli/live-area.ts'
import { progressOn } from '../../src/cli/run-progress.ts'
import type { Screen } from '../../src/cli/screen.ts'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { addTasks } from '../../src/queue/adding.ts'
import { claimNext } from '../../src/queue/claiming.ts'
import { checkpointTask } from '../../src/queue/reporting.ts'
import type { Entry, Happening, Outcome } from '../../src/runner/diary.ts'
import { callerOf } from '../support/caller.ts'
import { PlayedScreen } from '../support/played-screen.ts'
import { addTask, begin, runHere, statesIn } from '../support/run-here.ts'

const BEGAN = Date.parse('2026-03-01T10:00:00.000Z')
const caller = callerOf(openSqliteStore(':memory:'))
const stop = new AbortController()
const watching = { json: false, caller, signal: stop.signal, now: () => new Date() }

beforeEach(() => {
  vi.useFakeTimers({ now: BEGAN, toFake: ['setInterval', 'clearInterval', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const at = (happening: Happening): Entry => ({ at: new Date().toISOString(), ...happening })
const started = (workers: number) => at({ what: 'run_started', agent: '/usr/bin/agent', workers, name: 'w' })
const claimed = (worker: string, task: string, title: string) => at({ what: 'claimed', worker, task, title, token: 1 })
const over = (task: string, outcome: Outcome, text = 'did it', costUsd: number | null = null) =>
  at({ what: 'ended', task, title: task, outcome, text, ms: 4000, attempts: 1, costUsd })

test('on a terminal every worker has a line that changes, what is over stays above, and the end leaves only that', async () => {
  const screen = new PlayedScreen(80, 24)
  const progress = progressOn(screen, watching)
  progress.tell(started(2))
  progress.tell(claimed('w-1', 'req_0001', 'Convert'))
  progress.said('req_0001', 'half of it')
  await vi.advanceTimersByTimeAsync(4000)
  expect(screen.shown).toEqual([
    '10:00:00  2 workers with agent',
    'w-1  req_0001      4s  Convert  half of it',
    'w-2  idle',
    '0 done, 0 failed, 0 waiting, 0 left  4s',
  ])
  progress.tell(over('req_0001', 'completed', 'did it', 0.25))
  progress.tell(claimed('w-2', 'req_0002', 'Next'))
  progress.tell(at({ what: 'agent_started', task: 'req_0002', attempt: 2, pid: 1, session: null }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(screen.shown).toEqual([
    '10:00:00  2 workers with agent',
    '10:00:04  req_0001  completed  4s  0.25 USD  did it',
    '10:00:04  req_0002  attempt 2',
    'w-1  idle',
    'w-2  req_0002      1s  Next  attempt 2',
    '1 done, 0 failed, 0 waiting, 0 left  5s  0.25 USD',
  ])
  progress.tell(over('req_0002', 'failed', 'exit 1\nand more'))
  await progress.end()
  expect(screen.shown).toEqual([
    '10:00:00  2 workers with agent',
    '10:00:04  req_0001  completed  4s  0.25 USD  did it',
    '10:00:04  req_0002  attempt 2',
    '10:00:05  req_0002  failed  4s  exit 1',
  ])
  expect([screen.wraps, screen.overflow]).toEqual([true, ''])
  // oxlint-disable-next-line no-control-regex -- colours
  expect(screen.written).not.toMatch(/\u001b\[[\d;]*m/)
})

test('a narrow terminal gets cut lines, and text from outside takes no effect in them', async () => {
  const screen = new PlayedScreen(30, 10, true)
  const progress = progressOn(screen, watching)
  progress.tell(started(2))
  progress.tell(claimed('w-1', 'req_0001', '漢字漢字漢字漢字漢字漢字漢字'))
  progress.tell(claimed('w-2', 'req_0002', 'a\u001b[2Jb\u202e'))
  await vi.advanceTimersByTimeAsync(250)
  expect(screen.shown.slice(1)).toEqual([
    'w-1  req_0001      0s  漢字漢…',
    'w-2  req_0002      0s  a\\u{1b…',
    '0 done, 0 failed, 0 waiting  …',
  ])
  expect(screen.overflow).toBe('')
  await progress.end()
})

test('more workers than rows: the totals, and those that have been at their task longest', async () => {
  const screen = new PlayedScreen(80, 6)
  const progress = progressOn(screen, watching)
  progress.tell(started(64))
  for (let n = 1; n <= 10; n++) {
    progress.tell(claimed(`w-${n}`, `req_${String(n).padStart(4, '0')}`, 'Task'))
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(screen.shown).toEqual([
    '10:00:00  64 workers with agent',
    'w-1  req_0001     10s  Task',
    'w-2  req_0002      9s  Task',
    'w-3  req_0003      8s  Task',
    'and 7 more at work',
    '0 done, 0 failed, 0 waiting, 0 left  10s',
  ])
  await progress.end()
})

test('however much happens, a terminal is written to four times a second at most', async () => {
  const screen = new PlayedScreen(80, 24)
  const progress = progressOn(screen, watching)
  progress.tell(started(1))
  for (let tick = 0; tick < 100; tick++) {
    progress.tell(claimed('w-1', 'req_0001', `Task ${tick}`))
    progress.tell(over('req_0001', 'completed'))
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(screen.writes).toBeLessThanOrEqual(4)
  await progress.end()
  expect(screen.shown).toHaveLength(101)
})

test('checkpoints, what is left and what waits for a person come from the queue, whoever wrote them', async () => {
  const screen = new PlayedScreen(90, 24)
  const own = callerOf(openSqliteStore(':memory:'))
  const progress = progressOn(screen, { ...watching, caller: own })
  await addTasks(
    own,
    ['One', 'Two', 'Three'].map(title => ({ title, description: 'd', expect: 'e' })),
    {},
  )
  const [one, two] = await claimNext(own, { worker: 'w-1' }, 2)
  progress.tell(started(2))
  progress.tell(claimed('w-1', one!.id, one!.title))
  progress.tell(claimed('w-2', two!.id, two!.title))
  await checkpointTask(own, one!.id, { summary: '3 of 8 converted\nthe rest tomorrow', token: one!.token })
  await checkpointTask(own, two!.id, { summary: 'ready', needs: 'which one?', token: two!.token })
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(1000)
    expect(screen.shown.slice(1).map(line => line.replace(/ +\d+s/, ''))).toEqual([
      'w-1  req_0001  One  3 of 8 converted',
      'w-2  req_0002  Two  ready',
      '0 done, 0 failed, 1 waiting, 1 left',
    ])
  })
  await progress.end()
})

test('on a terminal that was made narrower the old lines are taken back as they lie there now', () => {
  let columns = 40
  let written = ''
  const screen: Screen = {
    live: true,
    colour: false,
    size: () => ({ columns, rows: 24 }),
    write: text => void (written += text),
  }
  const area = new LiveArea(screen)
  area.draw([], ['x'.repeat(40), 'short'])
  columns = 15
  written = ''
  area.draw([], ['new'])
  expect(written.startsWith('\r\u001b[4A\u001b[J')).toBe(true)
})

test('without a terminal there is a plain line for each thing worth knowing, and an event for a program', async () => {
  const entries = [
    started(1),
    claimed('w-1', 'req_0001', 'a\u001b[31mred\nline'),
    at({ what: 'agent_started', task: 'req_0001', attempt: 1, pid: 7, session: null }),
    at({ what: 'agent_ended', task: 'req_0001', attempt: 1, exit: 0, signal: null, ms: 1500 }),
    at({ what: 'sent_on', task: 'req_0001', open: 2 }),
    at({ what: 'agent_started', task: 'req_0001', attempt: 1, pid: 8, session: null }),
    at({ what: 'agent_ended', task: 'req_0001', attempt: 1, exit: null, signal: 'SIGKILL', ms: 61_000 }),
    at({ what: 'agent_started', task: 'req_0001', attempt: 2, pid: 9, session: null }),
    at({ what: 'wards', task: 'req_0001', passed: false, text: 'failed: npm test (exit 1)' }),
    at({ what: 'agent_started', task: 'req_0001', attempt: 2, pid: 10, session: null }),
    over('req_0001', 'waiting', 'waiting'),
    at({ what: 'run_ended', counts: { completed: 0, waiting: 1 }, ms: 7_500_000 }),
  ]
  const told = async (json: boolean) => {
    let text = ''
    const screen = {
      live: json,
      colour: json,
      size: () => ({ columns: 20, rows: 5 }),
      write: (more: string) => (text += more),
    }
    const progress = progressOn(screen, { ...watching, json })
    for (const entry of entries) progress.tell(entry)
    await progress.end()
    return text.split('\n')
  }
  expect(await told(false)).toEqual([
    '10:00:00  1 worker with agent',
    '10:00:00  req_0001  w-1  a\\u{1b}[31mred line',
    '10:00:00  req_0001  sent on: 2 open in its plan',
    '10:00:00  req_0001  the agent ended: SIGKILL  after 1m01s',
    '10:00:00  req_0001  attempt 2',
    '10:00:00  req_0001  wards failed: npm test (exit 1)',
    '10:00:00  req_0001  waiting  4s',
    '10:00:00  1 waiting  2h05m',
    '',
  ])
  expect((await told(true)).filter(Boolean).map(line => JSON.parse(line) as Entry)).toEqual(entries)
})

test('a run whose reader has gone away goes on to its end', async () => {
  vi.useRealTimers()
  const here = runHere('while [ ! -f gone ]; do sleep 0.05; done; echo did it')
  await addTask(here, 'One')
  const child = begin(here)
  await once(child.stdout!, 'data')
  child.stdout!.destroy()
  writeFileSync(`${here.cwd}/gone`, '')
  const [status] = (await once(child, 'exit')) as [number]
  expect(status).toBe(0)
  expect(await statesIn(here)).toEqual({ req_0001: 'completed' })
})
