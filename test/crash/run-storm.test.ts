import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answer } from '../support/cli.ts'
import { addTask, begin, run, runHere, statesIn, type Told } from '../support/run-here.ts'

const KILLS = 8 * Number(process.env['STORM'] ?? 1)
const TASKS = 12 * Number(process.env['STORM'] ?? 1)

test.each([
  { engine: 'directories', store: '' },
  { engine: 'SQLite', store: 'sqlite:here.db' },
])(
  'runners are killed at any moment: on $engine the next one goes on, and each task is completed once',
  async ({ store }) => {
    // One in four reports by itself, as agents do.
    const script =
      'case "$PUNCHLIST_TASK" in *[048]) punchlist queue complete "$PUNCHLIST_TASK" >/dev/null;; esac; echo ok'
    const here = runHere(script, { store, wards: ['true'] })
    for (let n = 0; n < TASKS; n++) await addTask(here, `task ${n}`)
    for (let n = 0; n < KILLS; n++) {
      const child = begin(here, '--workers', '3')
      const gone = once(child, 'close')
      await sleep(Math.random() * 500)
      child.kill('SIGKILL')
      await gone
    }
    expect(await run(here, '--workers', '3')).toMatchObject({ status: 0, stderr: '' })
    expect(Object.values(await statesIn(here))).toEqual(Array.from({ length: TASKS }, () => 'completed'))
    const { events } = await answer<{ events: Told[] }>(['log', '--limit', '5000'], here)
    expect(events.filter(({ kind, to }) => kind === 'task' && to === 'completed')).toHaveLength(TASKS)
    expect(readdirSync(join(here.cwd, '.punchlist/runs/open'))).toEqual([])
  },
)
