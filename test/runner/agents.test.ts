import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import type { Agent, Heard } from '../../src/runner/agents/agent.ts'
import { agentMaker } from '../../src/runner/agents/agents.ts'

const PROGRAMS: Readonly<Record<string, string>> = {
  'claude-code': 'claude',
  codex: 'codex',
  opencode: 'opencode',
  gemini: 'gemini',
}

function made(name: string, ...words: string[]): Agent {
  return agentMaker({ name, words, self: ['node', 'punchlist.js'] })()
}

/** What is known of an agent after it has printed all this. */
function after(agent: Agent, lines: readonly unknown[]): Heard {
  return Object.assign({}, ...lines.map(line => agent.hear(JSON.stringify(line)))) as Heard
}

describe.each(Object.entries(PROGRAMS))('%s', (name, program) => {
  test('gets any prompt on its standard input, and no part of it on its command line', () => {
    const agent = made(name)
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('--help', '-', 'x'.repeat(300_000))), prompt => {
        for (const invocation of [agent.begin(prompt), agent.resume!('s1', prompt)]) {
          expect({ program: invocation.program, input: invocation.input }).toEqual({ program, input: prompt })
          expect(invocation.args).toEqual(
            invocation.args.includes('s1') ? agent.resume!('s1', '').args : agent.begin('').args,
          )
        }
      }),
    )
  })

  test('is carried on by the name of its session, with all that its user has said', () => {
    const agent = made(name, '--model', 'm1')
    expect(agent.begin('').args.join(' ')).toContain('--model m1')
    expect(agent.begin('').args).not.toContain('s1')
    expect(agent.resume!('s1', '').args.join(' ')).toContain('--model m1')
    expect(agent.resume!('s1', '').args).toContain('s1')
  })

  test('may print anything', () => {
    const agent = made(name)
    const event = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('result', 'init', 'message', 'item.completed', 'turn.failed', 'error', 'text', 'step_finish'),
          fc.jsonValue(),
        ),
        role: fc.constantFrom('assistant', 'user'),
        session_id: fc.jsonValue(),
        thread_id: fc.jsonValue(),
        sessionID: fc.jsonValue(),
        part: fc.jsonValue(),
        item: fc.jsonValue(),
        error: fc.jsonValue(),
        errors: fc.jsonValue(),
        result: fc.jsonValue(),
        content: fc.jsonValue(),
        total_cost_usd: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const line = fc.oneof(
      fc.string(),
      event.map(value => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(line, printed => {
        const { session = 's', said = 's', costUsd = 0 } = agent.hear(printed)
        expect([typeof session, typeof said, typeof costUsd]).toEqual(['string', 'string', 'number'])
      }),
    )
  })
})

test('Codex is told what its user has said before the word resume, which allows for less', () => {
  const { args } = made('codex', '--sandbox', 'workspace-write').resume!('s1', 'Go on.')
  expect(args.indexOf('--sandbox')).toBeLessThan(args.indexOf('resume'))
  expect(args.slice(-3)).toEqual(['resume', 's1', '-'])
})

describe('what an agent printed tells its session, its last words and its cost, where it does:', () => {
  test('Claude Code', () => {
    const lines = [
      { type: 'system', subtype: 'init', session_id: 'a1', tools: [] },
      { type: 'assistant', message: { content: [{ type: 'text', text: 'Done.' }] }, session_id: 'a1' },
      { type: 'result', subtype: 'success', is_error: false, result: 'Done.', session_id: 'a1', total_cost_usd: 0.25 },
    ]
    expect(after(made('claude-code'), lines)).toEqual({ session: 'a1', said: 'Done.', costUsd: 0.25 })
  })

  test('Codex', () => {
    const lines = [
      { type: 'thread.started', thread_id: 'b1' },
      { type: 'item.completed', item: { id: 'item_0', type: 'error', message: 'Model metadata not found.' } },
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'Done.' } },
      { type: 'item.completed', item: { id: 'item_2', type: 'command_execution', command: 'ls', exit_code: 0 } },
      { type: 'turn.completed', usage: { input_tokens: 10, output_tokens: 5 } },
    ]
    expect(after(made('codex'), lines)).toEqual({ session: 'b1', said: 'Done.' })
  })

  test('OpenCode, whose steps are added up', () => {
    const finish = { type: 'step_finish', sessionID: 'c1', part: { type: 'step-finish', cost: 0.25 } }
    const lines = [
      { type: 'step_start', sessionID: 'c1', part: { type: 'step-start' } },
      { type: 'text', sessionID: 'c1', part: { type: 'text', text: 'Done.' } },
      finish,
      { type: 'tool_use', sessionID: 'c1', part: { type: 'tool', tool: 'bash' } },
      finish,
    ]
    expect(after(made('opencode'), lines)).toEqual({ session: 'c1', said: 'Done.', costUsd: 0.5 })
  })

  test('Gemini CLI, which speaks in pieces', () => {
    const says = (content: string) => ({ type: 'message', role: 'assistant', content, delta: true })
    const lines = [
      { type: 'init', session_id: 'd1', model: 'm' },
      { type: 'message', role: 'user', content: 'Do it.' },
      says('I look.'),
      { type: 'tool_use', tool_name: 'read_file', tool_id: 't1', parameters: {} },
      { type: 'tool_result', tool_id: 't1', status: 'success', output: 'x' },
      says('Do'),
      says('ne.'),
      { type: 'result', status: 'success', stats: {} },
    ]
    expect(after(made('gemini'), lines)).toEqual({ session: 'd1', said: 'Done.' })
  })
})

test.each([
  [
    'claude-code',
    { type: 'result', is_error: true, result: 'API Error: 400 no', session_id: 'a1' },
    'API Error: 400 no',
  ],
  ['claude-code', { type: 'result', is_error: true, errors: ['No conversation found'] }, 'No conversation found'],
  ['codex', { type: 'turn.failed', error: { message: 'unexpected status 401' } }, 'unexpected status 401'],
  ['opencode', { type: 'error', error: { name: 'APIError', data: { message: 'no' } } }, 'no'],
  ['opencode', { type: 'error', error: { name: 'UnknownError' } }, 'UnknownError'],
  [
    'gemini',
    { type: 'result', status: 'error', error: { type: 'unknown', message: '[API Error: no]' } },
    '[API Error: no]',
  ],
])('%s says why it could not go on: %o', (name, line, said) => {
  expect(made(name).hear(JSON.stringify(line)).said).toBe(said)
})

test('an agent that nobody knows is refused with the names of those that are known', () => {
  const names = [...Object.keys(PROGRAMS), 'punchlist'].join(', ')
  for (const name of ['claude', 'toString', undefined]) {
    const refused = () => agentMaker({ name, words: [], self: [] })
    expect(refused).toThrow(Problem)
    expect(refused).toThrow(expect.objectContaining({ hint: expect.stringContaining(names) }))
  }
})
