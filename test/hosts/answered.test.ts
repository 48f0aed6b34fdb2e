import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Reply } from '../../src/hosts/event.ts'
import { HOST_NAMES, hostNamed } from '../../src/hosts/hosts.ts'

const TEXT = 'Go on with "A" and\n<b>.'
const goOn: Reply = { type: 'go_on', text: TEXT }
const context: Reply = { type: 'context', text: TEXT }

/** Which event each host stops with, starts with, and can be told something with. */
const EVENTS: Readonly<Record<string, readonly [stop: string, start: string]>> = {
  codex: ['Stop', 'SessionStart'],
  gemini: ['AfterAgent', 'SessionStart'],
  qwen: ['Stop', 'SessionStart'],
  copilot: ['Stop', 'SessionStart'],
  kimi: ['Stop', 'UserPromptSubmit'],
}

describe('a session is sent on', () => {
  test.each(['codex', 'gemini', 'qwen', 'copilot'])('in %s by a decision to block, and nothing besides', async name => {
    const answer = (await hostNamed(name))!.write(goOn, { hook_event_name: EVENTS[name]![0] })
    expect(Object.keys(answer)).toEqual(['stdout'])
    expect(JSON.parse(answer.stdout!)).toEqual({ decision: 'block', reason: TEXT })
  })

  test('in kimi by exit status 2 and what is printed there', async () => {
    expect((await hostNamed('kimi'))!.write(goOn, { hook_event_name: 'Stop' })).toEqual({ stderr: TEXT, exit: 2 })
  })
})

describe('a session is told something', () => {
  test.each(['codex', 'gemini', 'qwen'])('in %s under the name of the event', async name => {
    const { stdout } = (await hostNamed(name))!.write(context, { hook_event_name: 'SessionStart' })
    const hookSpecificOutput = { hookEventName: 'SessionStart', additionalContext: TEXT }
    expect(JSON.parse(stdout!)).toEqual({ hookSpecificOutput })
  })

  test('in copilot at the top of the answer, whichever spelling it asked in', async () => {
    const copilot = (await hostNamed('copilot'))!
    for (const payload of [{ hook_event_name: 'SessionStart' }, { source: 'resume' }]) {
      expect(JSON.parse(copilot.write(context, payload).stdout!)).toEqual({ additionalContext: TEXT })
    }
  })

  test('in kimi with a prompt, in plain words', async () => {
    expect((await hostNamed('kimi'))!.write(context, { hook_event_name: 'UserPromptSubmit' })).toEqual({ stdout: TEXT })
  })

  test.each(['codex', 'gemini', 'qwen', 'kimi'])('in %s not with an event that does not take it', async name => {
    expect((await hostNamed(name))!.write(context, { hook_event_name: 'SessionEnd' })).toEqual({})
  })
})

test('a host is not told anything when there is nothing to say', async () => {
  for (const [name, events] of Object.entries(EVENTS)) {
    const host = (await hostNamed(name))!
    for (const hook_event_name of events) expect(host.write({ type: 'nothing' }, { hook_event_name })).toEqual({})
  }
})

const names = ['Stop', 'SessionStart', 'UserPromptSubmit', 'PostToolUse', 'TodoCreated', 'AfterTool', 'toString']
const tools = ['update_plan', 'write_todos', 'todo_write', 'TodoList', 'TodoWrite', 'TaskUpdate']
const payload = fc.record(
  {
    hook_event_name: fc.oneof(fc.constantFrom(...names), fc.jsonValue()),
    session_id: fc.oneof(fc.string({ maxLength: 300 }), fc.jsonValue()),
    sessionId: fc.jsonValue(),
    cwd: fc.oneof(fc.string(), fc.jsonValue()),
    prompt: fc.jsonValue(),
    source: fc.jsonValue(),
    tool_name: fc.oneof(fc.constantFrom(...tools), fc.jsonValue()),
    tool_input: fc.oneof(fc.record({ todos: fc.jsonValue(), plan: fc.jsonValue() }), fc.jsonValue()),
    all_todos: fc.array(fc.record({ id: fc.jsonValue(), content: fc.jsonValue(), status: fc.jsonValue() })),
    background_tasks: fc.jsonValue(),
    agent_id: fc.jsonValue(),
    event: fc.jsonValue(),
  },
  { requiredKeys: [] },
)

test('whatever a host sends is understood or left alone, and answered in a form that it can read', async () => {
  const hosts = await Promise.all(HOST_NAMES.map(async name => (await hostNamed(name))!))
  fc.assert(
    fc.property(payload, fc.constantFrom(goOn, context), (sent, reply) => {
      for (const host of hosts) {
        const told = host.read(sent)
        if (told) expect(told.session).toEqual(expect.stringMatching(/./s))
        const { stdout = '{}', exit = 0 } = host.write(reply, sent)
        expect([0, 2]).toContain(exit)
        if (host.name !== 'kimi') expect(JSON.parse(stdout)).toBeTypeOf('object')
      }
    }),
    { numRuns: 500 },
  )
})

test('a session whose id could not name a conversation is none', async () => {
  for (const name of Object.keys(EVENTS)) {
    const host = (await hostNamed(name))!
    const start = (session_id: unknown) => host.read({ hook_event_name: 'SessionStart', session_id, source: 'startup' })
    expect(start('s1')).toBeDefined()
    for (const id of ['', 'a\nb', 'x'.repeat(201), '\ud800', 7, null, ['s1']]) expect(start(id)).toBeUndefined()
  }
})
