import { existsSync, readdirSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { everywhere, punchlist } from '../support/cli.ts'
import { Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

const VERBS = ['add', 'release', 'claim', 'return', 'heartbeat', 'checkpoint', 'reply', 'complete', 'fail', 'retry']
const MORE = ['cancel', 'list', 'show', 'tree', 'recover', 'migrate']
const SAID = ['--description', 'd', '--expect', 'e']

/** A command that cannot be carried out, and what is said about it. */
const WRONG: [string, string[], number, RegExp][] = [
  ['a slug with a slash', ['add', 'T', ...SAID, '--slug', 'a/b'], 2, /slug: must be words/],
  ['a slug that leads out', ['add', 'T', ...SAID, '--slug', '..'], 2, /slug: must be words/],
  ['a slug that begins like the number of a part', ['add', 'T', ...SAID, '--slug', '01_x'], 2, /not two digits/],
  ['a slug of 300 characters', ['add', 'T', ...SAID, '--slug', 'x'.repeat(300)], 2, /60 at most/],
  ['a title of two lines', ['add', 'a\nb', ...SAID], 2, /title: must not contain .*line breaks/],
  ['a title of 301 characters', ['add', 'x'.repeat(301), ...SAID], 2, /title: must be at most 300/],
  ['no description and nothing expected', ['add', 'T'], 2, /description: is missing.*expect: is missing/],
  ['a type of its own', ['add', 'T', ...SAID, '--type', 'Urgent'], 2, /type: must be .*Standard/],
  ['a priority of its own', ['add', 'T', ...SAID, '--priority', 'p1'], 2, /priority: must be .*CRITICAL/],
  ['a dependency that is no task', ['add', 'T', ...SAID, '--depends-on', 'soon'], 2, /"soon" is no task/],
  ['a dependency that is not there', ['add', 'T', ...SAID, '--depends-on', '9'], 4, /no task req_0009/],
  ['a dependency on itself', ['add', 'T', ...SAID, '--depends-on', '#1'], 5, /#1 -> #1/],
  ['a parent that is not there', ['add', 'T', ...SAID, '--parent', '9'], 4, /no task req_0009/],
  ['a file that is not JSON', ['add', '--items', devNull], 2, /is not JSON/],
  ['an id that is none', ['show', '../etc/passwd'], 2, /must be an id such as req_0007/],
  ['a task that is not there', ['show', '9'], 4, /There is no task req_0009/],
  ['a lease that is no duration', ['claim', '--lease', 'soon'], 2, /lease: must be a duration such as 30m/],
  ['more than can be claimed at once', ['claim', '--limit', '501'], 2, /limit: must be 500 or less/],
  ['a token that is no number', ['complete', '1', '--token', 'x'], 2, /token/],
  ['a completion of nothing', ['complete'], 2, /id: is missing/],
  ['a completion of what nobody has claimed', ['complete', '1'], 5, /to_execute -> completed is not a legal move/],
  ['a failure without a report', ['fail', '1'], 2, /type: is missing.*what: is missing/],
  ['a failure of what nobody has claimed', ['fail', '1', '--type', 't', '--what', 'w'], 5, /not a legal move/],
  ['a checkpoint without words', ['checkpoint', '1', '--summary', ' '], 2, /summary: must not be empty/],
  ['a checkpoint of what nobody has claimed', ['checkpoint', '1', '--summary', 's'], 5, /only a task in progress/],
  ['a reply to nothing', ['reply', '1', 'x'], 5, /waits for no reply/],
  ['a cancellation without a reason', ['cancel', '1'], 2, /reason: is missing/],
  ['going on without, for no reason', ['release', '1', '--without', '2'], 2, /reason: is missing/],
  [
    'going on without what it does not wait for',
    ['release', '1', '--without', '9', '--reason', 'r'],
    2,
    /does not wait/,
  ],
  ['a heartbeat of what nobody has claimed', ['heartbeat', '1', '--token', '1'], 6, /no longer yours/],
  ['a state of its own', ['list', '--state', 'sleeping'], 2, /state\.0: must be/],
  ['a page of 1001', ['list', '--limit', '1001'], 2, /limit: must be 1000 or less/],
  ['an option that is none', ['claim', '--hurry'], 2, /hurry/],
  ['a verb that is none', ['clam'], 2, /clam/],
]

describe.each(ENGINES)('what cannot be done with a queue, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('is refused with code, fact, hint and exit status, and nothing is written', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A'])
    const files = () =>
      engine === 'files' ? readdirSync(join(cwd, 'coordination'), { recursive: true, encoding: 'utf8' }).toSorted() : []
    const before = [await typist.show('1'), files()]
    for (const [what, args, status, said] of WRONG) {
      const refused = await typist.refused(...args)
      expect([refused.status, refused.message], what).toEqual([status, expect.stringMatching(said)])
      expect([refused.code, refused.hint], what).toEqual([
        expect.stringMatching(/^[a-z_]+$/),
        expect.stringMatching(/./),
      ])
    }
    expect([await typist.show('1'), files()]).toEqual(before)
    expect((await typist.list('--all')).tasks).toHaveLength(1)
    expect(await typist.log()).toHaveLength(1)
  })

  test('leaves no trace where there was none', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    for (const args of [
      ['show', '1'],
      ['complete', '1'],
      ['release', '1'],
    ]) {
      expect((await typist.refused(...args)).status, args[0]).toBe(4)
    }
    expect((await typist.refused('claim')).status).toBe(3)
    expect(await typist.list()).toEqual({ tasks: [], more: 0, cursor: null, warnings: [] })
    expect(await typist.run('tree')).toEqual({ tree: [], more: 0, warnings: [] })
    expect(await typist.run('recover')).toEqual({ recovered: [], stale: [], warnings: [] })
    expect(existsSync(join(cwd, 'coordination'))).toBe(false)
  })
})

test('every verb of the queue is explained, with an example', { timeout: 60_000 }, async () => {
  const cwd = scratch()
  for (const verb of [...VERBS, ...MORE]) {
    const { status, stdout } = await punchlist(['queue', verb, '--help'], { cwd })
    expect([status, stdout], verb).toEqual([0, expect.stringContaining(`Example: punchlist queue ${verb}`)])
  }
  const { stdout } = await punchlist(['queue', '--help'], { cwd })
  for (const verb of [...VERBS, ...MORE]) expect(stdout).toContain(`queue ${verb}`)
  expect(readdirSync(cwd)).toEqual([])
})
