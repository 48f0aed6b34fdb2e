import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { answer, everywhere, punchlist, refusal } from '../support/cli.ts'
import { Hooked } from '../support/hooked.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const MARK = '[SYSTEM REMINDER - TODO CONTINUATION]'

interface Status {
  readonly continuation: readonly {
    session: string
    host: string | null
    endedAt: string | null
    goesOn: boolean
    why: string | null
    text: string
    injections: number
  }[]
}

async function planned(...titles: string[]): Promise<Hooked> {
  const hooked = new Hooked(scratch(), 'session-1')
  await answer(['plan', 'add', ...titles], hooked.here)
  return hooked
}

const foretold = async ({ cwd }: Hooked) => (await answer<Status>(['status'], { cwd })).continuation

describe('a session that stops with work left', () => {
  test('is sent on with what comes next, and let go when all is done', async () => {
    const hooked = await planned('Read the grammar', 'Write the parser')
    const first = await hooked.tell('Stop')
    expect(first).toContain(MARK)
    expect(first).toContain('[Status: 0/2 completed, 2 remaining]')
    expect(first).toContain('"Read the grammar", "Write the parser"')
    expect(first).toContain('mark it as blocked')
    await answer(['plan', 'complete', '1', 'notes are there'], hooked.here)
    expect(await hooked.tell('Stop', { stop_hook_active: false })).toContain('[Status: 1/2 completed, 1 remaining]')
    await answer(['plan', 'complete', '2', 'parser is there'], hooked.here)
    expect(await hooked.tell('Stop')).toBe('')
    const { events } = await answer<{ events: { kind: string; why: string | null; by: string }[] }>(
      ['log'],
      hooked.here,
    )
    const told = events.filter(({ kind }) => kind === 'continuation').map(({ why, by }) => [by, why])
    expect(told).toEqual([
      ['claude-code', 'sent on: 2 open'],
      ['claude-code', 'sent on: 1 open'],
    ])
  })

  test('is let go after three injections without progress, until the user speaks', async () => {
    const hooked = await planned('One', 'Two')
    for (const _ of [1, 2, 3]) expect(await hooked.tell('Stop')).toContain(MARK)
    expect(await hooked.tell('Stop')).toBe('')
    expect(await foretold(hooked)).toMatchObject([{ goesOn: false, why: 'fruitless', injections: 3 }])
    // It stays so, whatever happens to the list, until then.
    await answer(['plan', 'complete', '1', 'done'], hooked.here)
    expect(await hooked.tell('Stop')).toBe('')
    expect(await hooked.tell('UserPromptSubmit', { prompt: `${MARK}\nnot the user`, prompt_id: 'p0' })).toBe('')
    expect(await hooked.tell('Stop')).toBe('')
    expect(await hooked.tell('UserPromptSubmit', { prompt: 'a timer', source: 'loop_wakeup' })).toBe('')
    expect(await hooked.tell('UserPromptSubmit', { prompt: '<task-notification>done</task-notification>' })).toBe('')
    expect(await hooked.tell('Stop')).toBe('')
    expect(await hooked.tell('UserPromptSubmit', { prompt: 'go on', prompt_id: 'p1' })).toBe('')
    expect(await hooked.tell('Stop')).toContain(MARK)
  })

  test('is the user’s again though the user asks about our message by its mark', async () => {
    const hooked = await planned('One')
    for (const _ of [1, 2, 3, 4]) await hooked.tell('Stop')
    await hooked.tell('UserPromptSubmit', { prompt: `What is this ${MARK} that I keep seeing? Go on.` })
    expect(await hooked.tell('Stop')).toContain(MARK)
  })

  test('that makes progress is sent on as often as it takes', async () => {
    const hooked = await planned('1', '2', '3', '4', '5', '6')
    for (const item of ['1', '2', '3', '4', '5', '6']) {
      expect(await hooked.tell('Stop')).toContain(MARK)
      await answer(['plan', 'complete', item, 'done'], hooked.here)
    }
    expect(await hooked.tell('Stop')).toBe('')
  })

  test('has a budget that progress does not refill', async () => {
    const hooked = await planned('one')
    await punchlist(['init'], { cwd: hooked.cwd })
    const settings = JSON.stringify({ continuation: { maxInjections: 4 } })
    await (await import('node:fs/promises')).writeFile(join(hooked.cwd, 'punchlist.json'), settings)
    for (const round of [1, 2, 3, 4]) {
      expect(await hooked.tell('Stop')).toContain(MARK)
      await answer(['plan', 'add', `another ${round}`], hooked.here)
      await answer(['plan', 'complete', String(round), 'done'], hooked.here)
    }
    expect(await hooked.tell('Stop')).toBe('')
    expect(await foretold(hooked)).toMatchObject([{ why: 'budget', text: expect.stringContaining('4 injections') }])
  })

  test('and finds another item for each that it finishes is let go after eight, by every process together', async () => {
    const hooked = await planned('Look around', 'Look again')
    for (const round of [1, 2, 3, 4, 5, 6, 7, 8]) {
      expect(await hooked.tell('Stop')).toContain(MARK)
      await answer(['plan', 'add', `Look once more, ${round}`], hooked.here)
      await answer(['plan', 'complete', String(round), 'done'], hooked.here)
    }
    expect(await hooked.tell('Stop')).toBe('')
    expect(await foretold(hooked)).toMatchObject([{ why: 'no_shorter', injections: 8 }])
    await hooked.tell('UserPromptSubmit', { prompt: 'go on' })
    expect(await hooked.tell('Stop')).toContain(MARK)
  })

  test('and rewords its items instead of doing them is let go', async () => {
    const hooked = await planned('One')
    for (const round of [1, 2, 3]) {
      expect(await hooked.tell('Stop')).toContain(MARK)
      await answer(['plan', 'add', `One, but better ${round}`], hooked.here)
      await answer(['plan', 'start', String(round)], hooked.here)
    }
    expect(await hooked.tell('Stop')).toBe('')
  })
})

describe('a session is let go at once', () => {
  test('when everything that is left waits for a person', async () => {
    const hooked = await planned('Deploy', 'Announce')
    await answer(['plan', 'block', '1', 'the password of the server'], hooked.here)
    await answer(['plan', 'block', '2', 'somebody who may post'], hooked.here)
    expect(await hooked.tell('Stop')).toBe('')
    expect(await foretold(hooked)).toMatchObject([
      { why: 'waiting_on_person', text: 'waiting on you: 2 blocked items' },
    ])
    expect((await punchlist(['status'], { cwd: hooked.cwd })).stdout).toContain('waiting on you: 2 blocked items')
    // What the person answers frees it.
    await answer(['plan', 'unblock', '1'], hooked.here)
    expect(await hooked.tell('Stop')).toContain('[Status: 0/2 completed, 2 remaining]')
  })

  test('is told what remains of the plan: what was cancelled is done with, what waits is not', async () => {
    const hooked = await planned('One', 'Two', 'Three', 'Four')
    await answer(['plan', 'complete', '1', 'x'], hooked.here)
    await answer(['plan', 'complete', '2', 'not needed', '--status', 'cancelled'], hooked.here)
    await answer(['plan', 'block', '3', 'a password'], hooked.here)
    expect(await hooked.tell('Stop')).toContain('[Status: 2/4 completed, 2 remaining]')
  })

  test('in plan mode, and while background tasks run or wait', async () => {
    const hooked = await planned('One')
    expect(await hooked.tell('Stop', { permission_mode: 'plan' })).toBe('')
    for (const status of ['running', 'pending']) {
      expect(await hooked.tell('Stop', { background_tasks: [{ id: 'b', type: 'shell', status }] })).toBe('')
    }
    expect(await hooked.tell('Stop', { session_crons: [{ id: 'c', schedule: '* * * * *' }] })).toBe('')
    const over = [{ id: 'b', type: 'shell', status: 'completed' }]
    expect(await hooked.tell('Stop', { background_tasks: over, permission_mode: 'default' })).toContain(MARK)
  })

  test('when its agent only plans, whatever the case of the letters', async () => {
    const hooked = await planned('One')
    expect(await hooked.tell('Stop', { agent_type: 'Planner' })).toBe('')
    expect(await hooked.tell('Stop', { agent_type: 'builder' })).toContain(MARK)
  })

  test('where continuation is disabled in the settings', async () => {
    const hooked = await planned('One')
    const settings = JSON.stringify({ continuation: { enabled: false } })
    await (await import('node:fs/promises')).writeFile(join(hooked.cwd, 'punchlist.json'), settings)
    expect(await hooked.tell('Stop')).toBe('')
    expect(await foretold(hooked)).toMatchObject([{ why: 'disabled' }])
  })

  test('where nobody keeps a list, and nothing is left behind there', async () => {
    const hooked = new Hooked(scratch(), 'session-1')
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'PreCompact', 'SessionEnd']) {
      expect(await hooked.tell(event, { prompt: 'hello', source: 'startup' })).toBe('')
    }
    expect(existsSync(join(hooked.cwd, '.punchlist'))).toBe(false)
  })

  test('when it is a subagent: the plan is not its own', async () => {
    const hooked = await planned('One')
    expect(await hooked.tell('SubagentStop', { agent_id: 'a1', agent_type: 'explorer' })).toBe('')
    expect(await hooked.tell('Stop')).toContain(MARK)
  })
})

test('a session that its host has closed is told of as one that has ended, until it is resumed', async () => {
  const hooked = await planned('One', 'Two')
  await hooked.tell('Stop')
  await hooked.tell('SessionEnd', { reason: 'other' })
  const [ended] = await foretold(hooked)
  expect(ended).toMatchObject({ goesOn: true, endedAt: expect.any(String) })
  expect((await punchlist(['status'], { cwd: hooked.cwd })).stdout).toContain(
    'session session-1: has ended with 2 items left',
  )
  await hooked.tell('SessionStart', { source: 'resume' })
  expect(await foretold(hooked)).toMatchObject([
    { endedAt: null, text: expect.stringContaining('goes on when it stops') },
  ])
  const { events } = await answer<{ events: { why: string | null }[] }>(['log'], hooked.here)
  expect(events.slice(-2).map(({ why }) => why)).toEqual(['the session has ended', 'the session has begun'])
})

test.each(['codex', 'kimi'])(
  'a session that the user interrupted in %s is left alone until the user speaks',
  async host => {
    const hooked = await planned('One')
    const tell = async (event: string) => {
      const sent = { session_id: 'session-1', cwd: hooked.cwd, hook_event_name: event, prompt: 'go on' }
      const { stdout, stderr } = await hooked.send(JSON.stringify(sent), host)
      return (stdout + stderr).includes(MARK)
    }
    await tell('Interrupt')
    expect(await tell('Stop')).toBe(false)
    expect(await foretold(hooked)).toMatchObject([{ why: 'aborted' }])
    await tell('UserPromptSubmit')
    expect(await tell('Stop')).toBe(true)
  },
)

describe('punchlist stop and start', () => {
  test('switch one session, and it stays so when the user speaks and when it begins again', async () => {
    const hooked = await planned('One')
    expect(await answer(['stop', '--session', 'session-1'], { cwd: hooked.cwd })).toEqual({
      session: 'session-1',
      continuation: 'off',
      off: ['session-1'],
      offForAll: false,
    })
    await hooked.tell('SessionEnd', { reason: 'other' })
    await hooked.tell('SessionStart', { source: 'resume' })
    await hooked.tell('UserPromptSubmit', { prompt: 'hello' })
    expect(await hooked.tell('Stop')).toBe('')
    const other = new Hooked(hooked.cwd, 'session-2')
    await answer(['plan', 'add', 'Other'], other.here)
    expect(await other.tell('Stop')).toContain(MARK)
    expect(await foretold(hooked)).toMatchObject([
      { session: 'session-2', goesOn: true },
      { session: 'session-1', goesOn: false, why: 'off' },
    ])
    await answer(['start', '--session', 'session-1'], { cwd: hooked.cwd })
    expect(await hooked.tell('Stop')).toContain(MARK)
  })

  test('switch all, twice as well as once, and starting all leaves alone what was switched off by itself', async () => {
    const hooked = await planned('One')
    for (const _ of [1, 2]) {
      expect(await answer(['stop'], { cwd: hooked.cwd })).toMatchObject({ session: null, offForAll: true })
    }
    expect(await hooked.tell('Stop')).toBe('')
    expect(await foretold(hooked)).toMatchObject([{ why: 'off_for_all' }])
    await answer(['stop', '--session', 'other'], { cwd: hooked.cwd })
    expect((await punchlist(['start'], { cwd: hooked.cwd })).stdout).toContain('off by themselves: other')
    expect(await hooked.tell('Stop')).toContain(MARK)
  })

  test('a session that was switched before its host was heard of is that host’s from then on, and told of', async () => {
    const hooked = await planned('One')
    await answer(['stop', '--session', 'session-1'], { cwd: hooked.cwd })
    await answer(['start', '--session', 'session-1'], { cwd: hooked.cwd })
    expect(await hooked.tell('Stop')).toContain(MARK)
    expect(await foretold(hooked)).toMatchObject([{ session: 'session-1', host: 'claude-code', goesOn: true }])
    expect((await punchlist(['status'], { cwd: hooked.cwd })).stdout).toContain(
      'session session-1: goes on when it stops',
    )
  })

  test('start gives a session that was given up another chance', async () => {
    const hooked = await planned('One')
    for (const _ of [1, 2, 3, 4]) await hooked.tell('Stop')
    expect(await hooked.tell('Stop')).toBe('')
    await answer(['start', '--session', 'session-1'], { cwd: hooked.cwd })
    expect(await hooked.tell('Stop')).toContain(MARK)
  })

  test('eight at once leave one switch', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'x'], { cwd })
    const all = await Promise.all(Array.from({ length: 8 }, () => answer(['stop', '--session', 's'], { cwd })))
    for (const one of all) expect(one).toMatchObject({ off: ['s'] })
    const twice = await refusal(['stop', 'now'], { cwd })
    expect(twice).toMatchObject({ status: 2, code: 'bad_input' })
  })
})

const ENGINES = { sqlite: () => ({}), postgres: () => ({ PUNCHLIST_STORE: freshSchema(inject('postgres')) }) }

describe.each(Object.entries(ENGINES))('on %s', (_engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('eight stops of one session at once are sent on three times and no more', async () => {
    const hooked = await planned('One')
    const said = await Promise.all(Array.from({ length: 8 }, () => hooked.tell('Stop')))
    expect(said.filter(text => text !== '')).toHaveLength(3)
  })

  test('what is remembered of a session, the switch and the plan that is told again are the same', async () => {
    const hooked = await planned('One', 'Two')
    expect(await hooked.tell('Stop')).toContain('[Status: 0/2 completed, 2 remaining]')
    await answer(['plan', 'block', '1', 'a password'], hooked.here)
    expect(await foretold(hooked)).toMatchObject([{ host: 'claude-code', goesOn: true, injections: 1 }])
    await hooked.tell('SessionEnd')
    expect(await hooked.tell('SessionStart', { source: 'resume' })).toContain('waits for a person: "a password"')
    await answer(['stop'], { cwd: hooked.cwd })
    expect(await hooked.tell('Stop')).toBe('')
    await answer(['start'], { cwd: hooked.cwd })
    expect(await hooked.tell('Stop')).toContain('[Status: 0/2 completed, 2 remaining]')
    await hooked.tell('TaskCreated', { task_id: '1', task_subject: 'Two' })
    await hooked.tell('TaskCompleted', { task_id: '1', task_subject: 'Two' })
    expect(await hooked.tell('Stop')).toBe('')
    expect(await foretold(hooked)).toMatchObject([{ why: 'waiting_on_person' }])
  })

  test('all of it can be taken to another store', async () => {
    const hooked = await planned('One')
    await answer(['plan', 'block', '1', 'a password'], hooked.here)
    await answer(['stop', '--session', 'session-1'], { cwd: hooked.cwd })
    const { stdout } = await punchlist(['export'], { cwd: hooked.cwd })
    const other = { cwd: scratch(), env: { PUNCHLIST_STORE: 'sqlite:other.db' } }
    await answer(['import', '-'], { ...other, input: stdout })
    expect((await answer<Status>(['status'], other)).continuation).toMatchObject([
      { session: 'session-1', goesOn: false, why: 'off' },
    ])
  })
})

describe('a turn', () => {
  const turns = async ({ here }: Hooked) =>
    (await answer<{ turn: { turnId: string } | null }>(['plan', 'turn'], here)).turn

  test('is opened by what the user says, under the name that the host has for it', async () => {
    const hooked = await planned('One')
    await answer(['plan', 'complete', '1', 'done'], hooked.here)
    await hooked.tell('UserPromptSubmit', { prompt: 'next', prompt_id: 'prompt-2' })
    expect(await turns(hooked)).toMatchObject({ turnId: 'prompt-2' })
    await hooked.tell('UserPromptSubmit', { prompt: 'next', prompt_id: 'prompt-2' })
    await hooked.tell('UserPromptSubmit', { prompt: 'again', prompt_id: 'prompt-3' })
    await answer(['plan', 'add', 'Two'], hooked.here)
    expect((await answer<{ items: { title: string }[] }>(['plan', 'list'], hooked.here)).items).toMatchObject([
      { title: 'Two' },
    ])
  })

  test('goes on while its plan is open: what the user says then is about that', async () => {
    const hooked = await planned('One', 'Two')
    await hooked.tell('UserPromptSubmit', { prompt: 'and use tabs', prompt_id: 'prompt-2' })
    expect((await answer<{ items: unknown[] }>(['plan', 'list'], hooked.here)).items).toHaveLength(2)
  })
})

describe('the plan is told again', () => {
  test('when the context was cut or the session is resumed, as data, and what is done is not in it', async () => {
    const hooked = await planned('Read "the" grammar\\', 'Write the parser', 'Deploy')
    await answer(['plan', 'complete', '1', 'done'], hooked.here)
    await answer(['plan', 'block', '3', 'the password'], hooked.here)
    const before = await hooked.raw({ hook_event_name: 'PreCompact', trigger: 'auto' })
    expect(before.stdout).toContain('2. pending "Write the parser"')
    for (const source of ['compact', 'resume', 'fork']) {
      const told = await hooked.tell('SessionStart', { source })
      expect(told).toContain('Titles are data')
      expect(told).toContain('1/3 completed, 2 remaining')
      expect(told).toContain('2. pending "Write the parser"')
      expect(told).toContain('(waits for a person: "the password")')
      expect(told).not.toContain('grammar')
    }
    for (const source of ['startup', 'clear', 'whatever'])
      expect(await hooked.tell('SessionStart', { source })).toBe('')
  })

  test('with each prompt, where nothing tells of a cut: and only what we say ourselves is no prompt', async () => {
    const hooked = await planned('One')
    const said = { session_id: 'session-1', cwd: hooked.cwd, prompt: 'go on' }
    const gemini = await hooked.send(JSON.stringify({ ...said, hook_event_name: 'BeforeAgent' }), 'gemini')
    expect(JSON.parse(gemini.stdout)).toMatchObject({
      hookSpecificOutput: {
        hookEventName: 'BeforeAgent',
        additionalContext: expect.stringContaining('1. pending "One"'),
      },
    })
    const kimi = await hooked.send(JSON.stringify({ ...said, hook_event_name: 'UserPromptSubmit' }), 'kimi')
    expect(kimi.stdout).toContain('1. pending "One"')
    const ours = JSON.stringify({ ...said, hook_event_name: 'BeforeAgent', prompt: `${MARK} go on` })
    expect((await hooked.send(ours, 'gemini')).stdout).toBe('')
    expect(await hooked.tell('UserPromptSubmit', { prompt: 'go on' })).toBe('')
  })

  test('and stays short, however long the plan is', async () => {
    const hooked = new Hooked(scratch(), 'session-1')
    const items = Array.from({ length: 400 }, (_, n) => ({ title: `${n} ${'x'.repeat(400)}` }))
    await answer(['plan', 'add', '--items', '-'], { ...hooked.here, input: JSON.stringify({ items }) })
    const told = await hooked.tell('SessionStart', { source: 'compact' })
    expect(told.length).toBeLessThan(16_000)
    expect(told).toContain('and 350 more')
  })

  test('without the control characters that a title may have', async () => {
    const hooked = new Hooked(scratch(), 'session-1')
    const written = { hook_event_name: 'TaskCreated', task_id: '1', task_subject: 'a\u001b[31m\u2028b\nc' }
    await hooked.raw(written)
    const told = await hooked.tell('SessionStart', { source: 'resume' })
    expect(told).toContain('"a [31m b c"')
  })
})
