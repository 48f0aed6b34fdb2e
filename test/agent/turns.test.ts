import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { scratch } from '../support/scratch.ts'
import { type ChatServer, type Cue, chatServer, idsIn, textsIn } from './chat-server.ts'
import { typed } from './typed.ts'

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
const documentOf = async (...args: Parameters<typeof typed>) => JSON.parse((await typed(...args)).stdout) as unknown

test('a turn that is named again goes on with its own plan', async () => {
  const cwd = scratch()
  const server = await scripted(planned('Look'), { say: 'Not yet.' }, completed('looked'), { say: 'Now I have.' })
  const around = { cwd, env: server.env }
  const same = ['agent', '--conversation', 'c', '--turn', 't']
  expect((await typed([...same, 'Look', '--max-calls', '2'], around)).status).toBe(10)
  expect(await documentOf([...same, 'go on', '--json'], around)).toMatchObject({ turn: 't', remaining: 0, calls: 2 })
  const list = ['plan', 'list', '--json', '--status', 'all', '--conversation', 'c', '--turn', 't']
  expect(await documentOf(list, around)).toMatchObject({ items: [{ title: 'Look', outcome: 'looked' }] })
})

test('a turn without a plan is passed over where something is brought along', async () => {
  const cwd = scratch()
  const server = await scripted(completed('looked'), { say: 'Now I have.' })
  const around = { cwd, env: server.env }
  await typed(['plan', 'add', 'Look', '--conversation', 'c', '--turn', 't1'], around)
  await typed(['plan', 'turn', 't2', '--conversation', 'c'], around)
  expect(await documentOf(['agent', 'go on', '--conversation', 'c', '--json'], around)).toMatchObject({
    text: 'Now I have.',
    calls: 2,
    remaining: 0,
  })
  expect(textsIn(server.asked[0]!).at(-1)).toContain('"Look"')
})

test('what waits for a person is told, and is no failure', async () => {
  const server = await scripted(
    planned('Deploy it'),
    asked => ({ call: 'block_todo', input: { todoId: idsIn(asked)[0], needs: 'the password' } }),
    { say: 'I cannot go on.' },
  )
  const ran = await typed(['agent', 'Deploy it', '--conversation', 'c'], { cwd: scratch(), env: server.env })
  expect(ran).toMatchObject({
    status: 0,
    stdout: 'I cannot go on.\n\nLeft in the plan:\n- Deploy it (needs you: the password)\n',
  })
  expect(ran.stderr).toContain('needs you: Deploy it: the password')
})

test('a check decides whether an item is done, and not the model', async () => {
  const cwd = scratch()
  const server = await scripted(
    planned('Make a.txt'),
    completed('a.txt is there, I promise'),
    { call: 'write_file', input: { path: 'a.txt', text: 'a' } },
    completed('a.txt is there'),
    { say: 'Made.' },
  )
  const check = ['--check', "node -e 'require(`fs`).statSync(`a.txt`)'"]
  const { status, stderr } = await typed(['agent', 'Make it', '--write', ...check, '--conversation', 'c'], {
    cwd,
    env: server.env,
  })
  expect(stderr.split('\n')).toEqual([
    'planned: 1 item',
    expect.stringMatching(/^complete_todo refused: move_refused: /),
    'write_file a.txt',
    'completed and checked: Make a.txt',
    '',
  ])
  expect(status).toBe(0)
})

test('a plan that is carried on in a new turn keeps its check, without a word about it', async () => {
  const cwd = scratch()
  const server = await scripted(
    planned('Make a.txt'),
    { say: 'Not yet.' },
    completed('a.txt is there, I promise'),
    { say: 'It is there.' },
    { call: 'write_file', input: { path: 'a.txt', text: 'a' } },
    completed('a.txt is there'),
    { say: 'Made.' },
  )
  const around = { cwd, env: server.env }
  const check = ['--check', "node -e 'require(`fs`).statSync(`a.txt`)'", '--max-calls', '2']
  expect((await typed(['agent', 'Make it', '--conversation', 'c', ...check], around)).status).toBe(10)
  const { status, stderr } = await typed(['agent', 'go on', '--conversation', 'c', '--write'], around)
  expect(stderr.split('\n')).toEqual([
    expect.stringMatching(/^complete_todo refused: move_refused: The check of /),
    'sent back to its plan: 1 item left',
    'write_file a.txt',
    'completed and checked: Make a.txt',
    '',
  ])
  expect(status).toBe(0)
})

test('further instructions come from a file, and the plan is not offered where it is not wanted', async () => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'AGENTS.md'), 'Speak like a sailor.')
  const server = await scripted({ say: 'Aye.' })
  await typed(['agent', 'hello', '--system', join(cwd, 'AGENTS.md'), '--tools', 'worklog'], { cwd, env: server.env })
  expect(textsIn(server.asked[0]!)[0]).toMatch(/Speak like a sailor\.$/)
  expect(server.asked[0]!.tools!.map(tool => tool.function.name)).not.toContain('create_todo')
})

test('a host in whose session it was started keeps its plan to itself', async () => {
  const cwd = scratch()
  const server = await scripted({ say: 'Nothing is planned.' })
  const env = { ...server.env, CLAUDE_CODE_SESSION_ID: 's' }
  await typed(['plan', 'add', "The host's"], { cwd, env })
  expect(await typed(['agent', 'hello', '--quiet'], { cwd, env })).toMatchObject({
    status: 0,
    stdout: 'Nothing is planned.\n',
  })
})

test.each<[string, string[], string]>([
  ['nothing to do', [], 'It is not said what to do'],
  ['a blank', ['  '], 'It is not said what to do'],
  ['a set of tools that is none', ['x', '--tools', 'plan,hammer'], 'There is no tool set "hammer"'],
  [
    'a check that is not run',
    ['x', '--check', 'true', '--completion', 'self'],
    '--check is not run with --completion self',
  ],
  [
    'a mode in which nothing could be completed',
    ['x', '--completion', 'verified'],
    'Nothing can be completed with --completion verified and no check\nGive --check COMMAND.',
  ],
  ['a check with an open quote', ['x', '--check', '"true'], 'check: must be a command line with its quotes closed'],
  ['a time that is none', ['x', '--timeout', 'soon'], 'timeout: must be a duration such as 30m'],
  ['a file that is not there', ['x', '--system', '/no/such/file'], 'cannot be read'],
  ['no model', ['x', '--model', ''], 'No model is named'],
])('%s is refused before anything is kept', async (_, args, fact) => {
  const cwd = scratch()
  const ran = await typed(['agent', ...args], { cwd, env: { PUNCHLIST_MODEL: 'ollama/x' } })
  expect(ran.status).toBe(2)
  expect(ran.stderr).toContain(fact)
  expect(existsSync(join(cwd, '.punchlist'))).toBe(false)
})
