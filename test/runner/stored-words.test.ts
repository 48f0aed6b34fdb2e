import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import { agentMaker } from '../../src/runner/agents/agents.ts'
import { recall, remember } from '../../src/runner/memory.ts'
import { RunState } from '../../src/runner/state.ts'
import { addTask, run, runHere, statesIn } from '../support/run-here.ts'
import { scratch } from '../support/scratch.ts'

const AGENTS = ['claude-code', 'codex', 'opencode', 'gemini']
/** Where each of them tells the name of its session. */
const TELLING: Readonly<Record<string, (session: unknown) => unknown>> = {
  'claude-code': session_id => ({ type: 'system', session_id }),
  codex: thread_id => ({ type: 'thread.started', thread_id }),
  opencode: sessionID => ({ type: 'text', sessionID }),
  gemini: session_id => ({ type: 'init', session_id }),
  punchlist: conversation => ({ conversation }),
}
const NAMED = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/

const hostile = [
  '',
  '-',
  '--help',
  '-c',
  '--dangerously-skip-permissions',
  '.',
  '..',
  '_',
  'a b',
  'a\nb',
  'a\n',
  '../x',
  '/x',
]
const strange = ['$(id)', 'a;b', 'a=b', 'ä', 'a\0b', 'x'.repeat(201), 7, null, ['a'], { a: 1 }]
const ids = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown>(...hostile, ...strange) },
  { weight: 2, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.uuid() },
)
const made = (name: string) => agentMaker({ name, words: [], self: ['node', 'punchlist.js'] })()

describe('the name of a session', () => {
  test.each(AGENTS)('becomes a word for %s only if it cannot be taken for anything else', name => {
    fc.assert(
      fc.property(ids, id => {
        const begin = () => made(name).resume!(id as string, 'x').args
        if (typeof id === 'string' && NAMED.test(id)) expect(begin()).toContain(id)
        else expect(begin).toThrow(Problem)
      }),
    )
  })

  test.each(Object.keys(TELLING))('is heard from %s only if it can be one', name => {
    fc.assert(
      fc.property(ids, id => {
        const { session } = made(name).hear(JSON.stringify(TELLING[name]!(id)))
        expect(session).toBe(typeof id === 'string' && NAMED.test(id) ? id : undefined)
      }),
    )
  })

  test('is remembered of a task only if it can be one', () => {
    const state = new RunState(scratch(), 'seal')
    fc.assert(
      fc.property(ids, id => {
        const memory = { attempts: 1, agent: 'codex', session: id as string, before: [], givenBack: 0 }
        remember(state, 'req_0001', memory)
        expect(recall(state, 'req_0001').session).toBe(typeof id === 'string' && NAMED.test(id) ? id : null)
      }),
    )
  })
})

describe('the id of a task', () => {
  test.each(['../../../../x', '..', 'a/b', '/x', 'a\0b'])('names no file outside of the folder of runs: %j', id => {
    const root = scratch()
    const state = new RunState(root, 'seal')
    expect(() => state.make('artifacts', id)).toThrow(Problem)
    expect(() => state.path('tasks', id)).toThrow(Problem)
    expect(existsSync(join(root, '.punchlist/runs/artifacts'))).toBe(false)
  })

  test.each(['../../../../../x', '--orphan=x', 'req_0001;touch x', 'x'])(
    'that is none, in a database that was accepted, starts no agent and no git: %j',
    async id => {
      const here = runHere('echo "$PUNCHLIST_TASK" >> began', { store: `sqlite:${join(scratch(), 'list.db')}` })
      await addTask(here, 'theirs')
      await addTask(here, 'ours')
      const database = new DatabaseSync(here.env['PUNCHLIST_STORE']!.slice('sqlite:'.length))
      database.prepare(`UPDATE queue_tasks SET id = ? WHERE id = 'req_0001'`).run(id)
      database.prepare(`UPDATE texts SET id = ? WHERE id = 'req_0001'`).run(id)
      database.close()
      const { status, stdout } = await run(here)
      expect(status).toBe(5)
      expect(stdout).toContain('its id is not that of a task; no agent was started')
      expect(await statesIn(here)).toEqual({ [id]: 'error', req_0002: 'completed' })
      expect(readFileSync(join(here.cwd, 'began'), 'utf8')).toBe('req_0002\n')
    },
  )
})
