import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HostEvent } from '../../src/hosts/event.ts'
import { hostNamed } from '../../src/hosts/hosts.ts'

type Payload = Readonly<Record<string, unknown>>

const OURS = '[SYSTEM REMINDER - TODO CONTINUATION] go on please'
const started: HostEvent = { type: 'started', how: 'new' }
const ended: HostEvent = { type: 'ended' }
const spoke = (text: string, turn?: string): HostEvent => ({ type: 'spoke', text, turn })
const stopping = (more: Partial<Extract<HostEvent, { type: 'stopping' }>> = {}): HostEvent => ({
  type: 'stopping',
  ...more,
})
const listed = (keys: readonly string[], second: 'pending' | 'completed', asking?: boolean): HostEvent => ({
  type: 'listed',
  whole: true,
  tasks: [
    { key: keys[0]!, title: 'S1', status: 'in_progress' },
    { key: keys[1]!, title: 'S2', status: second },
  ],
  ...(asking === undefined ? {} : { asking }),
})

/** What the real programs sent, in order, and what it means to us; null where it means nothing. */
const MEANT: Readonly<Record<string, readonly (HostEvent | null)[]>> = {
  codex: [
    started,
    spoke('do it', '01a1e39d-fbf0-7ed0-b078-8a34af53c839'),
    null,
    stopping({ planning: false }),
    stopping({ planning: false }),
    ended,
    listed(['S1', 'S2'], 'pending'),
    null,
    // What a subagent is told comes in the name of its session.
    null,
    null,
    stopping({ planning: false, agent: 'default', subagent: '01a1e3af-06d2-7a01-9501-a2408117f925' }),
    null,
  ],
  gemini: [
    started,
    // What hooks said at the start stood in front.
    spoke('do it'),
    null,
    null,
    listed(['S1', 'S2'], 'pending'),
    stopping(),
    spoke(OURS),
    stopping(),
    ended,
  ],
  qwen: [
    started,
    spoke('do it', '79720fad-2f0e-4e06-87c8-419031abb1cc########0'),
    null,
    // The answer of a tool, told as a prompt without words.
    null,
    listed(['1', '2'], 'pending', true),
    listed(['1', '2'], 'pending', false),
    listed(['1', '2'], 'pending'),
    stopping({ planning: false, background: 0 }),
    spoke(OURS, '79720fad-2f0e-4e06-87c8-419031abb1cc########0'),
    stopping({ planning: false, background: 0 }),
    stopping({ planning: false, background: 1 }),
    stopping({
      planning: false,
      background: 1,
      agent: 'general-purpose',
      subagent: 'general-purpose-call_f8b9d37c-9ac2-4238-8f87-353b09ce2259',
    }),
  ],
  copilot: [
    started,
    spoke('do it'),
    null,
    null,
    stopping(),
    spoke(OURS),
    stopping(),
    ended,
    // The same in Copilot's own spelling, and a subagent in both.
    started,
    spoke('do it'),
    null,
    stopping(),
    spoke(OURS),
    stopping(),
    ended,
    null,
    null,
    null,
    null,
    stopping({ agent: 'general-purpose', subagent: '97b342ff-94b1-4c52-b754-8600359d9012' }),
    null,
    null,
    stopping({ agent: 'general-purpose', subagent: '05d53e97-1ab4-4dd8-9312-84695300dec3' }),
    // What came of a task in the background, told as a prompt.
    null,
  ],
  kimi: [started, spoke('do it'), null, stopping(), null, null, null, listed(['S1', 'S2'], 'completed', true)],
}

describe.each(Object.entries(MEANT))('%s', (name, meant) => {
  test('is understood in everything that it was heard to say', async () => {
    const host = (await hostNamed(name))!
    expect(recorded(name).map(payload => host.read(payload)?.event ?? null)).toEqual(meant)
  })

  test('names its session and its folder with every event', async () => {
    const host = (await hostNamed(name))!
    for (const payload of recorded(name)) {
      const told = host.read(payload)
      if (!told) continue
      expect(told.session).toBe(payload['session_id'] ?? payload['sessionId'])
      expect(told.cwd).toBe('/home/ada/project')
    }
  })

  test('resumes a session, and goes on with one whose context was cut', async () => {
    const host = (await hostNamed(name))!
    const [start] = recorded(name)
    const how = (source: string) => host.read({ ...start, source })?.event
    expect(how('resume')).toEqual({ type: 'started', how: 'resumed' })
    expect(how('compact')).toEqual({ type: 'started', how: 'cut' })
    expect(how('constructor')).toEqual({ type: 'started', how: 'new' })
  })
})

test('a host that plans only says so where it stops', async () => {
  for (const name of ['codex', 'qwen']) {
    const host = (await hostNamed(name))!
    const stop = recorded(name).find(payload => payload['hook_event_name'] === 'Stop')!
    expect(host.read({ ...stop, permission_mode: 'plan' })?.event).toMatchObject({ planning: true })
  }
})

test('a list with an entry that says nothing is not taken over, nor one that nobody could work through', async () => {
  const codex = (await hostNamed('codex'))!
  const update = recorded('codex').find(({ tool_name }) => tool_name === 'update_plan')!
  const heard = (plan: unknown) => codex.read({ ...update, tool_input: { plan } })?.event
  expect(heard([{ step: 'A', status: 'pending' }, { status: 'pending' }])).toBeUndefined()
  expect(heard([{ step: ' ', status: 'pending' }])).toBeUndefined()
  expect(heard('A')).toBeUndefined()
  expect(heard(Array.from({ length: 1_001 }, (_, n) => ({ step: `${n}`, status: 'pending' })))).toBeUndefined()
  expect(heard([])).toEqual({ type: 'listed', whole: true, tasks: [] })
})

test('entries of the same words are two, and a status that nobody knows is not an end', async () => {
  const codex = (await hostNamed('codex'))!
  const update = recorded('codex').find(({ tool_name }) => tool_name === 'update_plan')!
  const plan = [
    { step: 'A', status: 'completed' },
    { step: 'A', status: 'toString' },
  ]
  expect(codex.read({ ...update, tool_input: { plan } })?.event).toMatchObject({
    tasks: [
      { key: 'A', status: 'completed' },
      { key: 'A (2)', status: 'pending' },
    ],
  })
})

function recorded(name: string): Payload[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'recorded', `${name}.json`), 'utf8')) as Payload[]
}
