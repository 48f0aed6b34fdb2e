import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { answer, everywhere, punchlist, refusal } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

interface Created {
  created: { id: string; title: string; order: number }[]
  totalPending: number
  remaining: number
  next: { id: string; title: string }[]
}
interface Listed {
  items: (Record<string, unknown> & { id: string; title: string; status: string; priority: number })[]
  summary: Record<string, number>
  more: number
  cursor: string | null
}
interface Finished {
  id: string
  title: string
  status: string
  outcome: string | null
  completedAt: string | null
  remaining: number
  next: { id: string; title: string }[]
  verifiedAt?: string | null
}

const titles = ({ items }: Listed) => items.map(({ title }) => title)

const ENGINES = { sqlite: () => ({}), postgres: () => ({ PUNCHLIST_STORE: freshSchema(inject('postgres')) }) }

describe.each(Object.entries(ENGINES))('a plan, from the command line, on %s', (_engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('is made, worked through and drained, each answer saying what remains', async () => {
    const cwd = scratch()
    const made = await answer<Created>(['plan', 'add', 'Read', 'Write', 'Test', '--context', 'the parser'], { cwd })
    expect(made).toEqual({
      created: made.created.map(({ id }, index) => ({ id, title: ['Read', 'Write', 'Test'][index], order: index + 1 })),
      totalPending: 3,
      remaining: 3,
      next: made.created.map(({ id, title }) => ({ id, title })),
    })

    const started = await answer<Finished>(['plan', 'start'], { cwd })
    expect(started).toMatchObject({
      title: 'Read',
      status: 'in_progress',
      outcome: null,
      completedAt: null,
      remaining: 3,
    })
    expect(started.next.map(({ title }) => title)).toEqual(['Write', 'Test'])

    const done = await answer<Finished>(['plan', 'complete', started.id, 'read it all'], { cwd })
    expect(done).toMatchObject({ id: started.id, status: 'completed', outcome: 'read it all', remaining: 2 })
    expect(Date.parse(done.completedAt!)).toBeGreaterThan(Date.now() - 60_000)

    // From pending straight to completed: it was never started.
    await answer(['plan', 'complete', '2', 'written'], { cwd })
    await answer(['plan', 'complete', '3', 'not needed', '--status', 'cancelled'], { cwd })
    expect(titles(await answer<Listed>(['plan', 'list'], { cwd }))).toEqual([])

    const all = await answer<Listed>(['plan', 'list', '--status', 'all'], { cwd })
    expect(all.items.map(({ title, status, outcome }) => [title, status, outcome])).toEqual([
      ['Read', 'completed', 'read it all'],
      ['Write', 'completed', 'written'],
      ['Test', 'cancelled', 'not needed'],
    ])
    expect(all.summary).toEqual({ total: 3, pending: 0, inProgress: 0, completed: 2, cancelled: 1 })
    expect(all.items[0]).toMatchObject({ context: 'the parser', completionCriteria: '', agentType: null, priority: 0 })
    expect(all.items[1]!['startedAt']).toBeNull()
  })

  test('takes a batch from a file or a pipe, and puts items where they are told to go', async () => {
    const cwd = scratch()
    const items = [
      { title: 'one', completionCriteria: 'seen' },
      { title: 'two', agentType: 'coder' },
    ]
    writeFileSync(join(cwd, 'items.json'), JSON.stringify({ items }))
    await answer(['plan', 'add', '--items', 'items.json'], { cwd })
    const piped = JSON.stringify({ items: [{ title: 'zero', order: 1 }, { title: 'last' }] })
    const { created } = await answer<Created>(['plan', 'add', '--items', '-'], { cwd, input: piped })
    expect(created.map(({ title, order }) => [title, order])).toEqual([
      ['zero', 1],
      ['last', 4],
    ])
    await answer(['plan', 'add', 'a', 'b', '--order', '2'], { cwd })
    const listed = await answer<Listed>(['plan', 'list'], { cwd })
    expect(titles(listed)).toEqual(['zero', 'a', 'b', 'one', 'two', 'last'])
    expect(listed.items.map(({ priority }) => priority)).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('can be told the same thing twice: no verb does it again', async () => {
    const cwd = scratch()
    const first = await answer<Created>(['plan', 'add', 'A', 'B', 'B'], { cwd })
    expect(await answer<Created>(['plan', 'add', 'A', 'B', 'B'], { cwd })).toEqual(first)
    expect(first.created).toHaveLength(3)
    const started = await answer<Finished>(['plan', 'start', '1'], { cwd })
    expect(await answer<Finished>(['plan', 'start', '1'], { cwd })).toEqual(started)
    const done = await answer<Finished>(['plan', 'complete', '1', 'x'], { cwd })
    expect(await answer<Finished>(['plan', 'complete', '1', 'x'], { cwd })).toEqual(done)
    const other = await refusal(['plan', 'complete', '1', 'y'], { cwd })
    expect(other).toMatchObject({ status: 5, code: 'move_refused' })
    expect(await refusal(['plan', 'complete', '1', 'x', '--status', 'cancelled'], { cwd })).toMatchObject({ status: 5 })
    // What is finished may have to be done again.
    const again = await answer<Created>(['plan', 'add', 'A'], { cwd })
    expect(again.created[0]!.order).toBe(4)
  })

  test('belongs to its conversation and turn: another turn neither sees nor touches it', async () => {
    const cwd = scratch()
    const mine = { cwd, env: { PUNCHLIST_CONVERSATION: 'c1', PUNCHLIST_TURN: 't1' } }
    const { created } = await answer<Created>(['plan', 'add', 'A'], mine)
    for (const env of [
      { PUNCHLIST_CONVERSATION: 'c1', PUNCHLIST_TURN: 't2' },
      { PUNCHLIST_CONVERSATION: 'c2', PUNCHLIST_TURN: 't1' },
    ]) {
      const theirs = { cwd, env }
      await answer(['plan', 'add', 'X'], theirs)
      expect(titles(await answer<Listed>(['plan', 'list'], theirs))).toEqual(['X'])
      expect(await refusal(['plan', 'complete', created[0]!.id, 'stolen'], theirs)).toMatchObject({
        status: 4,
        code: 'not_found',
      })
      expect(await refusal(['plan', 'start', created[0]!.id], theirs)).toMatchObject({ status: 4, code: 'not_found' })
    }
    // A flag wins over the environment of the same name.
    expect(titles(await answer<Listed>(['plan', 'list', '--turn', 't2'], mine))).toEqual(['X'])
    expect(titles(await answer<Listed>(['plan', 'list'], mine))).toEqual(['A'])
  })

  test('begins a turn by itself when nothing is open, and keeps a named one for as long as it is wanted', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'A'], { cwd })
    await answer(['plan', 'add', 'B'], { cwd })
    expect(titles(await answer<Listed>(['plan', 'list'], { cwd }))).toEqual(['A', 'B'])
    await answer(['plan', 'complete', '1', 'x'], { cwd })
    await answer(['plan', 'complete', '2', 'x'], { cwd })
    await answer(['plan', 'add', 'C'], { cwd })
    expect(titles(await answer<Listed>(['plan', 'list', '--status', 'all'], { cwd }))).toEqual(['C'])

    await answer(['plan', 'turn', 'monday'], { cwd })
    expect(titles(await answer<Listed>(['plan', 'list', '--status', 'all'], { cwd }))).toEqual([])
    await answer(['plan', 'add', 'D'], { cwd })
    await answer(['plan', 'complete', '1', 'x'], { cwd })
    await answer(['plan', 'add', 'E'], { cwd })
    expect(titles(await answer<Listed>(['plan', 'list', '--status', 'all'], { cwd }))).toEqual(['D', 'E'])
  })

  test('is carried on only when asked, by copies that know where they came from', async () => {
    const cwd = scratch()
    const env = { PUNCHLIST_CONVERSATION: 'c1' }
    const { created } = await answer<Created>(['plan', 'add', 'A', 'B', 'C', '--turn', 't1'], { cwd, env })
    await answer(['plan', 'complete', '1', 'x', '--turn', 't1'], { cwd, env })
    await answer(['plan', 'start', '2', '--turn', 't1'], { cwd, env })
    expect(titles(await answer<Listed>(['plan', 'list', '--turn', 't2'], { cwd, env }))).toEqual([])

    const carried = await answer<{ carried: Record<string, unknown>[] }>(['plan', 'carry', '--turn', 't2'], {
      cwd,
      env,
    })
    expect(carried).toMatchObject({ from: 't1', to: 't2', remaining: 2 })
    expect(carried.carried.map(({ carriedFrom }) => carriedFrom)).toEqual([created[1]!.id, created[2]!.id])
    expect(await answer(['plan', 'carry', '--turn', 't2', '--from', 't1'], { cwd, env })).toEqual(carried)
    // What was done of it since is not brought back.
    await answer(['plan', 'complete', '1', 'done', '--turn', 't2'], { cwd, env })
    await answer(['plan', 'carry', '--turn', 't2'], { cwd, env })
    const now = await answer<Listed>(['plan', 'list', '--turn', 't2', '--status', 'all'], { cwd, env })
    expect(now.items.map(({ title, status }) => [title, status])).toEqual([
      ['B', 'completed'],
      ['C', 'pending'],
    ])
    // The old turn is as it was.
    expect(titles(await answer<Listed>(['plan', 'list', '--turn', 't1'], { cwd, env }))).toEqual(['B', 'C'])
    // What was carried on goes on from there, and nothing of it comes twice.
    const onward = await answer<{ from: string; carried: { title: string }[] }>(['plan', 'carry', '--turn', 't3'], {
      cwd,
      env,
    })
    expect(onward).toMatchObject({ from: 't2', carried: [{ title: 'C' }] })
    await answer(['plan', 'complete', '1', 'done', '--turn', 't3'], { cwd, env })
    for (const from of [[], ['--from', 't1'], ['--from', 't2']]) {
      expect(await refusal(['plan', 'carry', '--turn', 't4', ...from], { cwd, env })).toMatchObject({ status: 3 })
    }
    const alone = { cwd, env: { PUNCHLIST_CONVERSATION: 'c9', PUNCHLIST_TURN: 't' } }
    const log = await answer(['log'], { cwd })
    expect(await refusal(['plan', 'carry'], alone)).toMatchObject({ status: 3, code: 'nothing_to_do' })
    expect(await refusal(['plan', 'carry', '--from', 'nowhere'], alone)).toMatchObject({ status: 4 })
    expect(await answer(['log'], { cwd })).toEqual(log)
  })

  test('an item that waits for a person is not given out, comes next for nobody, and can be taken up by name', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'Deploy', 'Announce', 'Rest'], { cwd })
    await answer(['plan', 'start', '1'], { cwd })
    expect(await answer(['plan', 'block', '1', 'the password'], { cwd })).toMatchObject({
      status: 'pending',
      needs: 'the password',
      remaining: 3,
      next: [{ title: 'Announce' }, { title: 'Rest' }],
    })
    expect(await answer(['plan', 'block', '1', 'the password'], { cwd })).toMatchObject({ needs: 'the password' })
    expect(await answer(['plan', 'start'], { cwd })).toMatchObject({ title: 'Announce' })
    expect(await answer(['plan', 'start'], { cwd })).toMatchObject({ title: 'Rest', next: [{ title: 'Announce' }] })
    expect(await refusal(['plan', 'start'], { cwd })).toMatchObject({ status: 3, code: 'nothing_to_do' })
    const list = async () => (await answer<Listed>(['plan', 'list'], { cwd })).items.map(({ needs }) => needs)
    expect(await list()).toEqual(['the password', null, null])
    expect(await answer(['plan', 'start', '1'], { cwd })).toMatchObject({ status: 'in_progress' })
    expect(await list()).toEqual([null, null, null])
    await answer(['plan', 'block', '2', 'a reviewer'], { cwd })
    expect(await answer(['plan', 'unblock', '2'], { cwd })).toMatchObject({ status: 'pending', title: 'Announce' })
    await answer(['plan', 'block', '2', 'a reviewer'], { cwd })
    await answer(['plan', 'complete', '2', 'somebody else did it'], { cwd })
    expect(await refusal(['plan', 'block', '2', 'x'], { cwd })).toMatchObject({ status: 5, code: 'move_refused' })
    expect(await refusal(['plan', 'block', '9', 'x'], { cwd })).toMatchObject({ status: 4 })
    expect(await refusal(['plan', 'block', '1'], { cwd })).toMatchObject({ status: 2, message: 'needs: is missing' })
  })

  test('an item someone works on is not given to someone else', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'A', 'B'], { cwd })
    const first = await answer<Finished>(['plan', 'start', '--actor', 'ann'], { cwd })
    const second = await answer<Finished>(['plan', 'start', '--actor', 'bob'], { cwd })
    expect([first.title, second.title]).toEqual(['A', 'B'])
    const third = await refusal(['plan', 'start', '--actor', 'eve'], { cwd })
    expect(third).toMatchObject({ status: 3, code: 'nothing_to_do' })
    const taken = await refusal(['plan', 'start', first.id, '--actor', 'eve'], { cwd })
    expect(taken).toMatchObject({ status: 5, code: 'move_refused' })
    expect(taken.message).toContain('ann')
  })

  test('long lists come in pages that say how much more there is', async () => {
    const cwd = scratch()
    const items = Array.from({ length: 120 }, (_, n) => ({ title: `item ${n}` }))
    await answer(['plan', 'add', '--items', '-'], { cwd, input: JSON.stringify({ items }) })
    const first = await answer<Listed>(['plan', 'list'], { cwd })
    expect([first.items.length, first.more, first.summary['total']]).toEqual([50, 70, 120])
    const second = await answer<Listed>(['plan', 'list', '--after', first.cursor!], { cwd })
    expect([second.items[0]!.title, second.items.length, second.more]).toEqual(['item 50', 50, 20])
    const third = await answer<Listed>(['plan', 'list', '--after', second.cursor!, '--limit', '1000'], { cwd })
    expect([third.items.length, third.more, third.cursor]).toEqual([20, 0, null])
    expect((await answer<Listed>(['plan', 'list', '--all'], { cwd })).items).toHaveLength(120)
    expect((await punchlist(['plan', 'list'], { cwd })).stdout).toContain('70 more')
  })
})

test('needs no set-up: reading makes nothing, the first write makes a private folder that git ignores', async () => {
  const cwd = scratch()
  expect(titles(await answer<Listed>(['plan', 'list'], { cwd }))).toEqual([])
  expect((await punchlist(['status'], { cwd })).status).toBe(0)
  expect((await punchlist(['log'], { cwd })).status).toBe(0)
  expect((await punchlist(['plan', 'turn'], { cwd })).status).toBe(0)
  expect(existsSync(join(cwd, '.punchlist'))).toBe(false)
  await answer(['plan', 'add', 'A'], { cwd })
  expect(statSync(join(cwd, '.punchlist')).mode & 0o777).toBe(0o700)
  expect(statSync(join(cwd, '.punchlist/punchlist.db')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(cwd, '.punchlist/.gitignore'), 'utf8')).toBe('*\n')
})

describe('how a completion is believed', () => {
  test('self: on the worker’s word', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'A', '--criteria', 'hard to meet'], { cwd })
    expect(await answer<Finished>(['plan', 'complete', '1', 'done'], { cwd })).toMatchObject({ status: 'completed' })
  })

  test('evidence: an item with criteria needs an outcome that names something to look at', async () => {
    const cwd = scratch()
    await answer(['plan', 'turn', 't', '--completion', 'evidence'], { cwd })
    await answer(['plan', 'add', 'A', '--criteria', 'someone can look at it'], { cwd })
    await answer(['plan', 'add', 'B'], { cwd })
    const refused = await refusal(['plan', 'complete', '1', 'all done, trust me'], { cwd })
    expect(refused).toMatchObject({ status: 5, code: 'move_refused', details: { missing: ['evidence'] } })
    expect(refused.hint).toContain('file')
    const done = await answer<Finished>(['plan', 'complete', '1', 'wrote src/parse.ts and ran `npm test`'], { cwd })
    expect(done.status).toBe('completed')
    expect(await answer<Finished>(['plan', 'complete', '2', 'no criteria'], { cwd })).toMatchObject({
      status: 'completed',
    })
  })

  test('verified: a check that we run decides, and what it said is kept either way', async () => {
    const cwd = scratch()
    await answer(['plan', 'turn', 't', '--completion', 'verified', '--check', `${process.execPath} check.js`], { cwd })
    await answer(['plan', 'add', 'A'], { cwd })
    await answer(['plan', 'add', 'B', '--check', `"${process.execPath}" -e "process.exit(0)"`], { cwd })
    writeFileSync(
      join(cwd, 'check.js'),
      'console.log("token sk-abcdefghijklmnopqrstuvwx"); console.error("2 failing"); process.exit(3)',
    )

    const failed = await refusal(['plan', 'complete', '1', 'done'], { cwd })
    expect(failed).toMatchObject({ status: 5, code: 'move_refused' })
    expect(failed.message).toContain('exit 3')
    expect(failed.hint).toContain('2 failing')
    expect(failed.details['verification']).toMatchObject({ exit: 3, command: [process.execPath, 'check.js'] })
    expect(JSON.stringify(failed)).toContain('2 failing')
    expect(JSON.stringify(failed)).not.toContain('sk-abc')
    const [open] = (await answer<Listed>(['plan', 'list'], { cwd })).items
    expect(open).toMatchObject({ status: 'pending', verifiedAt: null, verification: { exit: 3 } })

    writeFileSync(join(cwd, 'check.js'), 'console.log("14 passing")')
    const done = await answer<Finished>(['plan', 'complete', '1', 'done'], { cwd })
    expect(done.status).toBe('completed')
    expect(done.verifiedAt).toEqual(expect.any(String))
    const { items } = await answer<Listed>(['plan', 'list', '--status', 'all'], { cwd })
    const command = [process.execPath, 'check.js']
    expect(items[0]!['verification']).toMatchObject({ command, exit: 0, signal: null, output: '14 passing\n' })
    expect(items[0]!['verification']).toHaveProperty('durationMs', expect.any(Number))
    expect(await answer<Finished>(['plan', 'complete', '2', 'done'], { cwd })).toMatchObject({ status: 'completed' })

    const log = await answer<{ events: { why: string | null }[] }>(['log'], { cwd })
    expect(log.events.some(({ why }) => why?.includes('check failed: exit 3'))).toBe(true)
  })

  test('verified: a check that came with the folder is not run before its user says so', async () => {
    const [made, came] = [scratch(), join(scratch(), 'cloned')]
    await answer(['plan', 'turn', 't', '--completion', 'verified', '--check', 'touch owned'], { cwd: made })
    await answer(['plan', 'add', 'A'], { cwd: made })
    cpSync(made, came, { recursive: true })
    const untrusted = { status: 12, code: 'untrusted', hint: expect.stringContaining('punchlist trust') }
    expect(await refusal(['plan', 'complete', '1', 'done'], { cwd: came })).toMatchObject(untrusted)
    // Nor when the folder's own settings name the store, or another user made it.
    writeFileSync(join(came, 'punchlist.json'), '{"store": "sqlite:.punchlist/punchlist.db"}')
    expect(await refusal(['plan', 'complete', '1', 'done'], { cwd: came })).toMatchObject(untrusted)
    const elsewhere = { cwd: made, env: { HOME: scratch() } }
    expect(await refusal(['plan', 'complete', '1', 'done'], elsewhere)).toMatchObject(untrusted)
    expect(existsSync(join(came, 'owned'))).toBe(false)
    expect((await punchlist(['trust', '--yes'], { cwd: came })).stdout).toContain('"touch"')
    await answer(['plan', 'complete', '1', 'done'], { cwd: came })
    expect(existsSync(join(came, 'owned'))).toBe(true)
  })

  test('verified: without a check there is no completion, but there is a way out', async () => {
    const cwd = scratch()
    await answer(['plan', 'turn', 't', '--completion', 'verified'], { cwd })
    await answer(['plan', 'add', 'A'], { cwd })
    const refused = await refusal(['plan', 'complete', '1', 'done'], { cwd })
    expect(refused.details['missing']).toEqual(['checkCommand', 'verifiedAt'])
    expect(refused.hint).toContain('--check')
    expect(await answer<Finished>(['plan', 'complete', '1', 'no', '--status', 'cancelled'], { cwd })).toMatchObject({
      status: 'cancelled',
    })
  })

  test('a turn’s rules get stricter, never looser, and new turns follow punchlist.json', async () => {
    const cwd = scratch()
    writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ plan: { completion: 'evidence' } }))
    const opened = await answer<{ turn: { completion: string } }>(['plan', 'turn', 't'], { cwd })
    expect(opened.turn.completion).toBe('evidence')
    expect(await refusal(['plan', 'turn', 't', '--completion', 'self'], { cwd })).toMatchObject({ status: 5 })
    await answer(['plan', 'turn', '--completion', 'verified'], { cwd })
    expect(await answer<{ turn: object }>(['plan', 'turn'], { cwd })).toMatchObject({
      turn: { completion: 'verified' },
    })
  })
})
