import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { OpenCodeServer, opencodeRun, type Project } from './driven/opencode.ts'
import { Bench } from './driven/run.ts'
import type { Asked, Script, Step } from './script.ts'
import { blocks, completes, following, makesPlan, sentOn, TITLES } from './scripts.ts'

const writes = (status: string): Step => ({
  call: 'todowrite',
  input: { todos: TITLES.map(content => ({ content, status, priority: 'high' })) },
})
const delegates: Step = {
  call: 'task',
  input: { description: 'Look', prompt: 'Look around.', subagent_type: 'general' },
}

const takesLong: Step = { call: 'bash', input: { command: 'sleep 60', description: 'Waits' } }
const asks: Step = {
  call: 'question',
  input: {
    questions: [{ question: 'Which?', header: 'Which', options: [{ label: 'This', description: 'this one' }] }],
  },
}

/** What the model does, by what it was first told. */
const SCRIPTS: Readonly<Record<string, Script>> = {
  'Never finish.': following(makesPlan),
  'Build it.': following(makesPlan, { say: 'A plan.' }, completes(1), completes(2), { say: 'All done.' }),
  'Ask me.': following(makesPlan, blocks(1), blocks(2), { say: 'I need you.' }),
  'Stop early.': following(makesPlan),
  'Keep a list.': following(writes('pending'), { say: 'A list.' }, writes('completed'), { say: 'All done.' }),
  'Ask somebody.': following(delegates, { say: 'They looked.' }),
  'Look around.': following(makesPlan, { say: 'I looked.' }),
  'Plan long.': following(makesPlan, blocks(1), blocks(2), { say: 'Wait.' }, { say: 'I know.' }),
  'Take long.': following(makesPlan, takesLong),
  'Ask first.': following(makesPlan, asks),
  'Slowly.': following(makesPlan, { say: 'A plan.' }, completes(1), completes(2), { say: 'All done.' }),
}
const asked = new Map<string, Asked[]>()

function model(request: Asked): Step {
  const prompt = Object.keys(SCRIPTS).find(text => request.texts.includes(text)) ?? ''
  const before = asked.get(prompt) ?? []
  const mine = { ...request, request: before.length + 1 }
  asked.set(prompt, [...before, mine])
  return SCRIPTS[prompt]?.(mine) ?? { say: `What is ${request.texts.join(' ')}?` }
}

const requests = (prompt: string) => ({
  requests: asked.get(prompt)?.length,
  sentOn: sentOn(asked.get(prompt) ?? []),
})

describe('in OpenCode, a session', () => {
  let server: OpenCodeServer
  let project: Project
  let fruitless: string

  beforeAll(async () => {
    server = await OpenCodeServer.start(model)
    project = await server.project('project', 0)
    // It is given up after a quarter of a minute; the others go on meanwhile.
    fruitless = await project.session()
    await project.says(fruitless, 'Never finish.')
  }, 180_000)
  afterAll(() => server.close())

  test('that stops with items open is sent on, and let go when none is', async () => {
    const session = await project.session()
    await project.says(session, 'Build it.')
    await server.logged(session, 'left alone', 'nothing_open')
    expect(requests('Build it.')).toEqual({ requests: 5, sentOn: [3] })
    expect(asked.get('Build it.')![2]!.texts.join('\n')).toContain('0/2 completed, 2 remaining')
    expect(await project.statuses(session)).toEqual(TITLES.map(title => [title, 'completed']))
  })

  test('whose items all wait for a person is let go at once', async () => {
    const session = await project.session()
    await project.says(session, 'Ask me.')
    await server.logged(session, 'left alone', 'waiting_on_person')
    expect(requests('Ask me.')).toEqual({ requests: 4, sentOn: [] })
  })

  test('is let go at once while that is switched off', async () => {
    const session = await project.session()
    await project.punchlist('stop', '--session', session)
    await project.says(session, 'Stop early.')
    await server.logged(session, 'left alone', 'off')
    expect(requests('Stop early.')).toEqual({ requests: 2, sentOn: [] })
    expect(await project.statuses(session)).toEqual(TITLES.map(title => [title, 'pending']))
  })

  test('that the user ends is left alone', async () => {
    const session = await project.session()
    await project.sends(session, 'Take long.')
    await vi.waitFor(() => expect(asked.get('Take long.')).toHaveLength(2), { timeout: 30_000 })
    await project.abort(session)
    await server.logged(session, 'left alone', 'aborted')
    expect(requests('Take long.')).toEqual({ requests: 2, sentOn: [] })
  })

  test('whose question the user turns down is left alone', async () => {
    const session = await project.session()
    await project.sends(session, 'Ask first.')
    await project.turnsDown(session)
    await server.logged(session, 'left alone', 'asked')
    expect(requests('Ask first.')).toEqual({ requests: 2, sentOn: [] })
  })

  test('is kept going by the list that OpenCode keeps itself', async () => {
    const session = await project.session()
    await project.says(session, 'Keep a list.')
    await server.logged(session, 'left alone', 'nothing_open')
    expect(requests('Keep a list.')).toEqual({ requests: 4, sentOn: [3] })
    expect(await project.statuses(session)).toEqual(TITLES.map(title => [title, 'completed']))
  })

  test('is told what its subagent left open in a plan of its own', async () => {
    const session = await project.session()
    await project.says(session, 'Ask somebody.')
    const [child] = await project.children(session)
    expect(asked.get('Ask somebody.')![1]!.results.join('\n')).toContain('2 of 2 items of its plan open')
    await server.logged(session, 'left alone', 'nothing_open')
    expect(requests('Look around.')).toEqual({ requests: 2, sentOn: [] })
    expect(await project.statuses(child!.id)).toEqual(TITLES.map(title => [title, 'pending']))
    expect(await project.statuses(session)).toEqual([])
  })

  test('knows its plan after a compaction', async () => {
    const session = await project.session()
    await project.says(session, 'Plan long.')
    await project.compact(session)
    await project.says(session, 'Plan long.')
    const [last] = server.model.bodies.filter(body => body.includes('Plan long.')).slice(-1)
    expect(last).toContain('A summary.')
    expect(last).toContain('[PLAN OF THIS SESSION')
  })

  test('is left to the user who speaks during the countdown', async () => {
    const slow = await server.project('slow', 30)
    const happened = await slow.listen()
    const session = await slow.session()
    await slow.says(session, 'Slowly.')
    await server.logged(session, 'counting down')
    await vi.waitFor(() => expect(happened.map(({ type }) => type)).toContain('tui.toast.show'), { timeout: 10_000 })
    expect(happened.find(({ type }) => type === 'tui.toast.show')!.properties).toMatchObject({
      title: 'Todo Continuation',
      message: 'Resuming in 30s... (2 tasks remaining)',
      variant: 'warning',
    })
    await slow.says(session, 'Now go on.')
    await server.logged(session, 'left alone', 'nothing_open')
    expect(requests('Slowly.')).toEqual({ requests: 5, sentOn: [] })
    expect(await slow.statuses(session)).toEqual(TITLES.map(title => [title, 'completed']))
  })

  test('that gets nothing done is let go in the end', async () => {
    await server.logged(fruitless, 'left alone', 'fruitless')
    expect(requests('Never finish.')).toEqual({ requests: 5, sentOn: [3, 4, 5] })
    expect(await project.statuses(fruitless)).toEqual(TITLES.map(title => [title, 'pending']))
  })

  test('never sees how its calls are told from those of others', () => {
    expect(server.model.bodies.some(body => body.includes('create_todo'))).toBe(true)
    expect(server.model.bodies.filter(body => body.includes('punchlist_scope'))).toEqual([])
  })
})

test('in opencode run, which ends with the answer, a session keeps its plan and its budget, and can be sent on by whoever runs it', async () => {
  const bench = new Bench(opencodeRun)
  await bench.punchlist('init')
  const { session, asked: first } = await bench.run('Build it.', following(makesPlan, { say: 'A plan.' }))
  expect(first).toHaveLength(2)
  const { continuation } = await bench.punchlist<{ continuation: object[] }>('status', '--conversation', session)
  expect(continuation).toEqual([expect.objectContaining({ session, goesOn: true, injections: 0 })])
  const again = following(completes(1), completes(2), { say: 'All done.' })
  await bench.run('Go on.', again, session)
  expect(await bench.statuses(session)).toEqual(TITLES.map(title => [title, 'completed']))
})
