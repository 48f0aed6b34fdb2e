import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { answersIn, type ChatServer, type Cue, chatServer, idsIn, textsIn } from '../agent/chat-server.ts'
import { answer, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

interface Document {
  readonly conversation: string
  readonly turn: string
  readonly text: string
  readonly left: readonly { readonly title: string; readonly needs: string | null }[]
  readonly remaining: number
  readonly calls: number
  readonly usage: { readonly totalTokens: number }
  readonly end: string
}

interface Plan {
  readonly items: readonly { readonly title: string; readonly status: string; readonly outcome: string | null }[]
}

async function scripted(...cues: readonly Cue[]): Promise<ChatServer> {
  const server = await chatServer(...cues)
  onTestFinished(() => server.close())
  return server
}

const planned = (...titles: string[]): Cue => ({
  call: 'create_todo',
  input: { items: titles.map(title => ({ title })) },
})
const completed =
  (outcome: string): Cue =>
  asked => ({ call: 'complete_todo', input: { todoId: idsIn(asked)[0], outcome } })

test('an agent plans, is sent back while something is open, and answers when its plan is drained', async () => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'build.log'), 'error: a bracket is missing\n')
  const server = await scripted(
    planned('Find the cause', 'Mend it'),
    { call: 'start_todo' },
    { call: 'read_file', input: { path: 'build.log' } },
    completed('a bracket'),
    { say: 'All is done!' },
    { call: 'write_file', input: { path: 'main.js', text: '()' } },
    { call: 'run_command', input: { program: 'node', args: ['--version'] } },
    completed('main.js has its bracket'),
    { say: 'A bracket was missing. \u001b[2JIt is there now.' },
  )
  const args = ['agent', 'Find out why', 'it fails', '--write', '--allow', 'node', '--conversation', 'c']
  const { status, stdout, stderr } = await punchlist(args, { cwd, env: server.env })
  expect(stdout).toBe('A bracket was missing. \\u{1b}[2JIt is there now.\n')
  expect(stderr.split('\n')).toEqual([
    'planned: 2 items',
    'started: Find the cause',
    'read_file build.log',
    'completed: Find the cause',
    'sent back to its plan: 1 item left',
    'write_file main.js',
    'run_command node --version',
    'completed: Mend it',
    '',
  ])
  expect(status).toBe(0)
  expect(readFileSync(join(cwd, 'main.js'), 'utf8')).toBe('()')
  const last = server.asked.at(-1)!
  expect(textsIn(last)[1]).toBe('Find out why it fails')
  expect(answersIn(last)[2]).toContain('a bracket is missing')
  expect(answersIn(last)[5]).toContain(process.version)
})

test('what is not allowed is not offered, and the answer is one document for programs', async () => {
  const cwd = scratch()
  const server = await scripted(
    { call: 'write_file', input: { path: 'a', text: 'b' } },
    { call: 'run_command', input: { program: 'node' } },
    { say: 'I can only read here.' },
  )
  const env = { ...server.env, PUNCHLIST_TURN: 't' }
  const { conversation, ...told } = await answer<Document>(['agent', '-', '--tools', 'plan,queue'], {
    cwd,
    env,
    input: 'Write a\n',
  })
  expect(told).toMatchObject({
    turn: 't',
    text: 'I can only read here.',
    left: [],
    remaining: 0,
    calls: 3,
    end: 'answered',
  })
  expect(told.usage.totalTokens).toBe(45)
  expect(conversation).toMatch(/^[0-9a-f-]{36}$/)
  const names = server.asked[0]!.tools!.map(tool => tool.function.name)
  expect(names).toEqual(expect.arrayContaining(['create_todo', 'read_file', 'list_files', 'queue_add']))
  expect(names).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(?:write_file|edit_file|run_command|backlog_add)$/)]),
  )
  expect(textsIn(server.asked[0]!).at(-1)).toBe('Write a\n')
})

test('a conversation is carried on: what was said is sent along, what is open is brought along, and only once', async () => {
  const cwd = scratch()
  const server = await scripted(
    planned('Look', 'Mend'),
    { say: 'Not yet.' },
    asked => ({ calls: idsIn(asked).map(todoId => ({ call: 'complete_todo', input: { todoId, outcome: 'did it' } })) }),
    { say: 'Both are done.' },
    { say: 'You are welcome.' },
  )
  const around = { cwd, env: server.env }
  const first = await punchlist(['agent', 'Look and mend', '--max-calls', '2'], around)
  expect(first.status).toBe(10)
  const conversation = /^conversation (\S+)$/m.exec(first.stderr)![1]!
  expect(first.stderr).toContain(`Carry it on with: punchlist agent --conversation ${conversation} "go on"`)
  const second = await answer<Document>(['agent', '--conversation', conversation, 'go on'], around)
  expect(second).toMatchObject({ conversation, text: 'Both are done.', remaining: 0 })
  expect(textsIn(server.asked[2]!).slice(1, 4)).toEqual(['Look and mend', expect.stringContaining('Not yet.'), 'go on'])
  const plan = await answer<Plan>(
    ['plan', 'list', '--status', 'all', '--conversation', conversation, '--turn', second.turn],
    around,
  )
  expect(plan.items.map(({ title, status }) => [title, status])).toEqual([
    ['Look', 'completed'],
    ['Mend', 'completed'],
  ])
  // The first turn's items are still open there, but their copies are done.
  const third = await answer<Document>(['agent', '--conversation', conversation, 'Thanks'], around)
  expect(third).toMatchObject({ text: 'You are welcome.', remaining: 0, calls: 1 })
})
