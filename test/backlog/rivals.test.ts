import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { backlogClaim } from '../../src/backlog/operations.ts'
import { open, type Problem, perform, type Store } from '../../src/index.ts'
import { type Added, ENGINES, type One, ready, Typist } from '../support/backlog.ts'
import { callerOf } from '../support/caller.ts'
import { ended, everywhere, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const EIGHT = Array.from({ length: 8 }, (_, n) => `w${n + 1}`)
const ADDER = join(import.meta.dirname, '../support/backlog-adder.ts')

/** The same command, or almost, from so many processes at once. */
async function together(cwd: string, commands: readonly (readonly string[])[]) {
  return await Promise.all(commands.map(args => punchlist(['--json', 'backlog', ...args], { cwd })))
}

describe.each(ENGINES)('eight processes at one backlog at once, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('who add fifty todos each get four hundred different ones', { timeout: 180_000 }, async () => {
    const cwd = scratch()
    const env = { PATH: process.env['PATH'] ?? '', ...everywhere.env }
    const ran = await Promise.all(EIGHT.map(name => ended(spawn(process.execPath, [ADDER, cwd, name, '50'], { env }))))
    expect(ran.map(({ status, stderr }) => [status, stderr])).toEqual(EIGHT.map(() => [0, '']))
    const given = ran.flatMap(({ stdout }) => JSON.parse(stdout) as string[])
    expect(new Set(given).size).toBe(400)
    const { todos } = await new Typist(cwd).list('--all', '--session', 's1')
    expect(todos.map(({ id }) => id).toSorted()).toEqual(given.toSorted())
    const titles = EIGHT.flatMap(name => Array.from({ length: 50 }, (_, n) => `${name} ${n}`))
    expect(todos.map(({ title }) => title).toSorted()).toEqual(titles.toSorted())
    if (engine === 'files') expect(readdirSync(join(cwd, 'tmp/work/s1/todos/review'))).toHaveLength(400)
  })

  test('who claim one todo: one wins, seven are refused', { timeout: 60_000 }, async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(ready('a'))
    const ran = await together(
      cwd,
      EIGHT.map(name => ['claim', '1', '--as', name]),
    )
    expect(
      ran
        .map(({ status }) => String(status))
        .toSorted()
        .join(''),
    ).toBe('05555555')
    const winner = JSON.parse(ran.find(({ status }) => status === 0)!.stdout) as One
    expect(winner.todo.token).toBe(1)
    const shown = await typist.show('1')
    expect(shown).toMatchObject({ assigned_to: winner.todo.assigned_to, token: 1 })
    expect(shown.history.map(({ to }) => to)).toEqual(['ready', 'in_progress'])
  })

  test('who take over one claim that ran out: one wins, and there is one claim', { timeout: 60_000 }, async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(ready('a'))
    await typist.run('claim', '1', '--as', 'gone', '--lease', '1ms')
    const ran = await together(
      cwd,
      EIGHT.map(name => ['claim', '1', '--as', name]),
    )
    expect(ran.filter(({ status }) => status === 0)).toHaveLength(1)
    for (const { status } of ran) expect([0, 5, 6]).toContain(status)
    const shown = await typist.show('1')
    const { todo } = JSON.parse(ran.find(({ status }) => status === 0)!.stdout) as One
    expect(shown).toMatchObject({ status: 'in_progress', assigned_to: todo.assigned_to, token: todo.token })
    expect(shown.history.filter(({ to }) => to === 'in_progress')).toHaveLength(2)
  })

  test('who add one finding make one todo', { timeout: 60_000 }, async () => {
    const cwd = scratch()
    const finding = ['--source', 'review', '--finding-id', 'F1', '--source-ref', 'TOME.md']
    const ran = await together(
      cwd,
      EIGHT.map(name => ['add', `As ${name} says it`, ...finding]),
    )
    expect(ran.map(({ stderr }) => stderr)).toEqual(EIGHT.map(() => ''))
    const answers = ran.map(({ stdout }) => JSON.parse(stdout) as Added)
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(answers.map(({ todo }) => `${todo.id} ${todo.title}`)).size).toBe(1)
    expect((await new Typist(cwd).list()).todos).toHaveLength(1)
  })

  test('who take what is next get different ones', { timeout: 60_000 }, async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(...EIGHT.map(name => ready(`for ${name}`)))
    const ran = await together(
      cwd,
      EIGHT.map(name => ['next', '--claim', '--as', name]),
    )
    const taken = ran.map(({ stdout }) => (JSON.parse(stdout) as One).todo)
    expect(new Set(taken.map(({ id }) => id)).size).toBe(8)
    expect(taken.map(({ assigned_to }) => assigned_to)).toEqual(EIGHT)
    const { todos } = await typist.list('--status', 'in_progress')
    expect(new Set(todos.map(({ assigned_to }) => assigned_to))).toEqual(new Set(EIGHT))
  })

  test.each([
    ['are worked on', []],
    ['are blocked already', ['3']],
  ])('who make todos wait for each other that %s never leave a circle', { timeout: 120_000 }, async (_, on) => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    for (let round = 0; round < 3; round++) {
      const session = `round-${round}`
      const here = typist.with({ PUNCHLIST_SESSION: session })
      await here.add(ready('a'), ready('b'), 'c')
      for (const id of ['1', '2']) {
        await here.run('claim', id)
        for (const other of on) await here.run('block', id, '--on', other)
      }
      const ran = await together(cwd, [
        ['block', '1', '--on', '2', '--session', session],
        ['block', '2', '--on', '1', '--session', session],
      ])
      for (const { status } of ran) expect([0, 5]).toContain(status)
      expect(await here.run('graph')).toMatchObject({ cycles: [] })
      // Who was answered with success has what he asked for.
      for (const [n, { status }] of ran.entries()) {
        const { dependencies } = await here.show(String(n + 1))
        if (status === 0) expect(dependencies).toContain(`review/00${2 - n}`)
      }
    }
  })
})

test('a claim made in the same moment as someone takes over an older one is not ended by that', async () => {
  const library = await open({ root: scratch(), store: 'sqlite::memory:', session: 's1', actor: 'slow' })
  await library.backlog.add({ items: [{ title: 'a', source: 'review', status: 'ready' }] })
  await library.as({ actor: 'gone' }).backlog.claim({ id: '1', lease: '0ms' })
  const rival = async () => void (await library.as({ actor: 'rival' }).backlog.claim({ id: '1' }))
  const caller = callerOf(afterLookingForLapsed(library.store, rival), {
    by: 'slow',
    scope: { conversationId: 'default', session: 's1' },
  })
  const late = await perform(backlogClaim, caller, { id: '1' }).catch((error: Problem) => error)
  expect(late).toMatchObject({ code: 'lease_lost' })
  expect((await library.backlog.show({ id: '1' })).todo).toMatchObject({
    status: 'in_progress',
    assigned_to: 'rival',
  })
  await library.close()
})

/** The same store, but once something happens after it was asked whose lease has run out. */
function afterLookingForLapsed(store: Store, then: () => Promise<void>): Store {
  let done = false
  const lapsed: Store['lapsed'] = async (kind, limit) => {
    const found = await store.lapsed(kind, limit)
    if (!done) {
      done = true
      await then()
    }
    return found
  }
  return new Proxy(store, {
    get: (target, name) => (name === 'lapsed' ? lapsed : (Reflect.get(target, name) as () => unknown).bind(target)),
  })
}
