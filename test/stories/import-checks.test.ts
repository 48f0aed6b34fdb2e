import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { open } from '../../src/index.ts'
import { acceptAll, answer, HOME, punchlist, refusal, type Surrounded } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

interface Waiting {
  items: { what: string; value: unknown; accepted: boolean }[]
}

const marker = () => join(scratch(), 'ran')

/** A document of another user's, whose items are complete only when their command has run. */
async function prepared(mark: string, own = true): Promise<string> {
  const cwd = scratch()
  const env = { HOME: scratch(), USER: 'mallory' }
  const check = ['--check', `touch ${mark}`]
  await answer(['plan', 'turn', 'theirs', '--completion', 'verified', ...(own ? [] : check)], { cwd, env })
  await answer(['plan', 'add', 'Theirs', ...(own ? check : [])], { cwd, env })
  await answer(['export', '--to', 'theirs.json'], { cwd, env })
  return join(cwd, 'theirs.json')
}

const completing = ['--turn', 'theirs', 'plan', 'complete', '1', 'all done']
const waiting = async (here: Surrounded) =>
  (await answer<Waiting>(['trust'], here)).items.filter(({ accepted }) => !accepted)

const STORES: Record<string, () => Record<string, string>> = {
  'the store of a folder': () => ({}),
  'a file that is named': () => ({ PUNCHLIST_STORE: `sqlite:${join(scratch(), 'list.db')}` }),
  'a server': () => ({ PUNCHLIST_STORE: freshSchema(inject('postgres')) }),
}

describe.each(Object.entries(STORES))('a check that was imported into %s', (_what, environment) => {
  test.each([
    ['of an item', true],
    ['of a turn', false],
  ])('%s is run only after it was accepted', async (_of, own) => {
    const mark = marker()
    const here = { cwd: scratch(), env: environment() }
    expect(await answer(['import', await prepared(mark, own)], here)).toMatchObject({ added: 2, checks: 1 })
    expect(await refusal(completing, here)).toMatchObject({
      code: 'move_refused',
      hint: expect.stringContaining('punchlist trust'),
    })
    expect(existsSync(mark)).toBe(false)
    expect(await waiting(here)).toMatchObject([{ what: 'check', value: ['touch', mark] }])
    await acceptAll(here)
    expect(await waiting(here)).toEqual([])
    await answer(completing, here)
    expect(existsSync(mark)).toBe(true)
  })

  test('leaves those that the user typed, before and after, as they were', async () => {
    const [before, after, theirs] = [marker(), marker(), marker()]
    const here = { cwd: scratch(), env: environment() }
    await answer(['plan', 'turn', 'mine', '--completion', 'verified', '--check', `touch ${before}`], here)
    await answer(['plan', 'add', 'First', 'Second'], here)
    await answer(['import', await prepared(theirs)], here)
    await answer(['--turn', 'mine', 'plan', 'complete', '1', 'done'], here)
    await answer(['--turn', 'mine', 'plan', 'add', 'Third', '--check', `touch ${after}`], here)
    await answer(['--turn', 'mine', 'plan', 'complete', '3', 'done'], here)
    expect([before, after, theirs].map(file => existsSync(file))).toEqual([true, true, false])
    // The same command, typed: now it is the user's own.
    await answer(['--turn', 'mine', 'plan', 'turn', '--check', `touch ${theirs}`], here)
    await answer(['--turn', 'mine', 'plan', 'complete', '2', 'done'], here)
    expect(existsSync(theirs)).toBe(true)
  })

  test('is not held back where the store has the same command already', async () => {
    const mark = marker()
    const here = { cwd: scratch(), env: environment() }
    await answer(['plan', 'turn', 'mine', '--check', `touch ${mark}`], here)
    expect(await answer(['import', await prepared(mark)], here)).toMatchObject({ added: 2, checks: 0 })
    await answer(completing, here)
    expect(existsSync(mark)).toBe(true)
  })
})

describe('checks of others', () => {
  test('are held back as well where a program imports them', async () => {
    const mark = marker()
    const cwd = scratch()
    const state = process.env['XDG_STATE_HOME']
    process.env['XDG_STATE_HOME'] = join(HOME(), '.local/state')
    try {
      const list = await open({ root: cwd, turn: 'theirs' })
      const document = JSON.parse(readFileSync(await prepared(mark), 'utf8')) as never
      expect(await list.import(document)).toMatchObject({ checks: 1 })
      await expect(list.plan.complete({ todoId: '1', outcome: 'done' })).rejects.toMatchObject({ code: 'move_refused' })
      await list.close()
    } finally {
      if (state === undefined) delete process.env['XDG_STATE_HOME']
      else process.env['XDG_STATE_HOME'] = state
    }
    expect(await refusal(completing, { cwd })).toMatchObject({ code: 'move_refused' })
    expect(existsSync(mark)).toBe(false)
  })

  test('are not accepted by an agent of a run that types them', async () => {
    const mark = marker()
    const cwd = scratch()
    await answer(['import', await prepared(mark)], { cwd })
    const agent = { cwd, env: { PUNCHLIST_RUN: '1:req_0001' } }
    const named = ['--turn', 'mine', 'plan', 'turn', '--completion', 'verified', '--check', `touch ${mark}`]
    expect(await refusal(named, agent)).toMatchObject({ code: 'move_refused' })
    expect(await refusal(['plan', 'add', 'x', '--check', `touch ${mark}`], agent)).toMatchObject({
      code: 'move_refused',
    })
    expect(existsSync(mark)).toBe(false)
  })

  test('in a database that came with the folder leave a check that the user types there alone', async () => {
    const [theirs, mine] = [marker(), marker()]
    const from = { cwd: scratch(), env: { HOME: scratch(), USER: 'mallory' } }
    await answer(['plan', 'turn', 'theirs', '--completion', 'verified'], from)
    await answer(['plan', 'add', 'Theirs', '--check', `touch ${theirs}`], from)
    const cwd = scratch()
    cpSync(from.cwd, cwd, { recursive: true })
    const { items } = await answer<{ items: { what: string; hash: string }[] }>(['trust'], { cwd })
    expect(items.map(({ what }) => what)).toEqual(['database', 'check'])
    await acceptAll({ cwd })
    await answer(['--turn', 'theirs', 'plan', 'add', 'Mine', '--check', `touch ${mine}`], { cwd })
    await answer(['--turn', 'theirs', 'plan', 'complete', '2', 'done'], { cwd })
    expect(existsSync(mine)).toBe(true)
    expect(await waiting({ cwd })).toEqual([])
  })

  test('are named to a person who imports them', async () => {
    const cwd = scratch()
    const { stdout } = await punchlist(['import', await prepared(marker())], { cwd })
    expect(stdout).toBe('2 added\n1 of its check commands are run only once you accept them: punchlist trust\n')
  })

  test('can be looked at and accepted while the settings name a store that was not accepted', async () => {
    const cwd = scratch()
    await answer(['import', await prepared(marker())], { cwd })
    writeFileSync(join(cwd, 'punchlist.json'), '{"store":"postgres://127.0.0.1:1/x"}')
    expect((await waiting({ cwd })).map(({ what }) => what)).toEqual(['store', 'check'])
  })
})
