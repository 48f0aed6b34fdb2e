import { describe, expect, test } from 'vitest'
import { answer } from '../support/cli.ts'
import { Hooked } from '../support/hooked.ts'
import { scratch } from '../support/scratch.ts'

interface Item {
  readonly title: string
  readonly status: string
  readonly context: string
  readonly outcome: string | null
}

const session = () => new Hooked(scratch(), 'session-1')
const plan = async ({ here }: Hooked) =>
  (await answer<{ items: Item[] }>(['plan', 'list', '--status', 'all'], here)).items
const brief = async (hooked: Hooked) => (await plan(hooked)).map(({ title, status }) => `${status} ${title}`)

const created = (id: string, subject: string, description = '') => ({
  task_id: id,
  task_subject: subject,
  task_description: description,
})
const updated = (taskId: string, fields: Record<string, unknown>) => ({
  tool_name: 'TaskUpdate',
  tool_input: { taskId, ...fields },
})

describe("Claude Code's own tasks are items of the plan", () => {
  test('from their creation to their end, and the session is held to them', async () => {
    const hooked = session()
    await hooked.tell('TaskCreated', created('1', 'Read the grammar', 'it is in docs'))
    await hooked.tell('TaskCreated', created('2', 'Write the parser'))
    expect(await plan(hooked)).toMatchObject([
      { title: 'Read the grammar', context: 'it is in docs', status: 'pending' },
      { title: 'Write the parser', context: '', status: 'pending' },
    ])
    expect(await hooked.tell('Stop')).toContain('2 remaining')
    await hooked.tell('PostToolUse', updated('1', { status: 'in_progress' }))
    expect(await brief(hooked)).toEqual(['in_progress Read the grammar', 'pending Write the parser'])
    await hooked.tell('TaskCompleted', created('1', 'Read the grammar'))
    await hooked.tell('PostToolUse', updated('2', { status: 'deleted' }))
    expect(await plan(hooked)).toMatchObject([
      { status: 'completed', outcome: 'completed in the list of Claude Code' },
      { status: 'cancelled' },
    ])
    expect(await hooked.tell('Stop')).toBe('')
  })

  test('once each, however often an event comes', async () => {
    const hooked = session()
    for (const _ of [1, 2]) await hooked.tell('TaskCreated', created('1', 'One'))
    for (const _ of [1, 2]) await hooked.tell('TaskCompleted', created('1', 'One'))
    expect(await brief(hooked)).toEqual(['completed One'])
  })

  test('and one that the model has also written into the plan is not there twice', async () => {
    const hooked = session()
    await answer(['plan', 'add', 'One', 'Two'], hooked.here)
    await hooked.tell('TaskCreated', created('1', 'Two'))
    await hooked.tell('TaskCompleted', created('1', 'Two'))
    expect(await brief(hooked)).toEqual(['pending One', 'completed Two'])
  })

  test('and two of the same words are two', async () => {
    const hooked = session()
    for (const id of ['1', '2']) await hooked.tell('TaskCreated', created(id, 'Run the tests'))
    await hooked.tell('TaskCompleted', created('1', 'Run the tests'))
    expect(await brief(hooked)).toEqual(['completed Run the tests', 'pending Run the tests'])
    await hooked.tell('TaskCompleted', created('2', 'Run the tests'))
    expect(await hooked.tell('Stop')).toBe('')
  })

  test('and a status that means something to JavaScript alone is none', async () => {
    const hooked = session()
    await hooked.tell('TaskCreated', created('1', 'One'))
    await hooked.tell('PostToolUse', updated('1', { status: 'constructor', subject: 'Two' }))
    expect(await brief(hooked)).toEqual(['pending One'])
  })

  test('and are cut to what a plan takes', async () => {
    const hooked = session()
    const long = `${'x'.repeat(499)}\u{1f600}${'y'.repeat(40_000)}`
    await hooked.tell('TaskCreated', created('1', long, `${long}\u0000`))
    const [item] = await plan(hooked)
    expect(item!.title).toBe(`${'x'.repeat(499)}\ufffd`)
    expect(item!.context).toHaveLength(32_768)
  })

  test('and a new subject is a new title', async () => {
    const hooked = session()
    await hooked.tell('TaskCreated', created('1', 'One'))
    await hooked.tell('PostToolUse', updated('1', { status: 'pending', subject: 'One and a half' }))
    expect(await brief(hooked)).toEqual(['pending One and a half'])
  })

  test('and a completion that the plan does not believe is refused there, too', async () => {
    const hooked = session()
    await answer(['plan', 'turn', 'strict', '--completion', 'verified', '--check', 'false'], hooked.here)
    await hooked.tell('TaskCreated', created('1', 'One'))
    const { status, stdout, stderr } = await hooked.raw({ hook_event_name: 'TaskCompleted', ...created('1', 'One') })
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain('failed (exit 1)')
    expect(await brief(hooked)).toEqual(['pending One'])
  })
})

describe('a list that the host writes anew each time', () => {
  const written = (...todos: [string, string][]) => ({
    tool_name: 'TodoWrite',
    tool_input: { todos: todos.map(([content, status]) => ({ content, status, activeForm: content })) },
  })

  test('is followed: what is new is added, what changed is moved, what is left out is cancelled', async () => {
    const hooked = session()
    await answer(['plan', 'add', 'Ours'], hooked.here)
    await hooked.tell('PostToolUse', written(['One', 'in_progress'], ['Two', 'pending'], ['Three', 'pending']))
    await hooked.tell('PostToolUse', written(['One', 'completed'], ['Two', 'in_progress'], ['Four', 'pending']))
    expect(await brief(hooked)).toEqual([
      'pending Ours',
      'completed One',
      'in_progress Two',
      'cancelled Three',
      'pending Four',
    ])
  })

  test('may have the same words twice, and no item is left over when both are done', async () => {
    const hooked = session()
    await hooked.tell(
      'PostToolUse',
      written(['Run the tests', 'pending'], ['Mend it', 'pending'], ['Run the tests', 'pending']),
    )
    expect(await brief(hooked)).toHaveLength(3)
    const done: [string, string] = ['Run the tests', 'completed']
    await hooked.tell('PostToolUse', written(done, ['Mend it', 'in_progress'], ['Run the tests', 'pending']))
    expect(await brief(hooked)).toEqual(['completed Run the tests', 'in_progress Mend it', 'pending Run the tests'])
    await hooked.tell('PostToolUse', written(done, ['Mend it', 'completed'], done))
    expect(await hooked.tell('Stop')).toBe('')
  })

  test('may have what was done to be done again', async () => {
    const hooked = session()
    await hooked.tell('PostToolUse', written(['One', 'completed'], ['Two', 'pending']))
    await hooked.tell('PostToolUse', written(['One', 'pending'], ['Two', 'pending']))
    expect(await brief(hooked)).toEqual(['completed One', 'pending Two', 'pending One'])
  })

  test('is the agent’s own: that of a subagent is none of the session’s', async () => {
    const hooked = session()
    await hooked.tell('PostToolUse', written(['One', 'pending']))
    await hooked.tell('PostToolUse', { ...written(['Theirs', 'pending']), agent_id: 'a1' })
    expect(await brief(hooked)).toEqual(['pending One'])
  })

  test('may be empty, or hold nonsense', async () => {
    const hooked = session()
    await hooked.tell('PostToolUse', written(['One', 'pending']))
    await hooked.tell('PostToolUse', { tool_name: 'TodoWrite', tool_input: { todos: [7, null, { content: '' }, {}] } })
    expect(await brief(hooked)).toEqual(['cancelled One'])
    await hooked.tell('PostToolUse', { tool_name: 'TodoWrite', tool_input: 'x' })
    await hooked.tell('PostToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    expect(await brief(hooked)).toEqual(['cancelled One'])
  })
})
