import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../support/scratch.ts'
import { answersIn, type ChatServer, type Cue, chatServer, KEY } from './chat-server.ts'
import { type Typed, typed } from './typed.ts'

async function asked(
  cues: readonly Cue[],
  args: readonly string[] = [],
  cwd = scratch(),
): Promise<Typed & { server: ChatServer }> {
  const server = await chatServer(...cues)
  try {
    return { ...(await typed(['agent', 'do it', ...args], { cwd, env: server.env })), server }
  } finally {
    await server.close()
  }
}

function refusalIn({ stderr }: Typed) {
  return (
    JSON.parse(stderr) as {
      error: { code: string; message: string; hint: string; details: Record<string, unknown> }
    }
  ).error
}

describe.concurrent('an endpoint that fails is told with its host, and what to do', () => {
  test.each([
    [401, 'SCRIPTED_API_KEY'],
    [403, 'SCRIPTED_API_KEY'],
    [404, 'SCRIPTED_BASE_URL'],
    [429, 'too many requests'],
    [400, 'another model'],
    [500, 'Try again later'],
  ])('status %d', async (status, hint) => {
    const ran = await asked([{ status, error: `no: ${KEY}` }], ['--json'])
    const { host } = new URL(ran.server.url)
    expect(ran).toMatchObject({ status: 11, stdout: '' })
    expect(refusalIn(ran)).toMatchObject({
      code: 'model_failed',
      message: `${host} answered ${status}: no: [redacted]`,
      details: { status, host },
    })
    expect(refusalIn(ran).hint).toContain(hint)
    expect(refusalIn(ran).hint).toContain('punchlist agent --conversation')
    // What may be better in a moment is tried three times.
    expect(ran.server.asked.length).toBe(status === 429 || status === 500 ? 3 : 1)
  })

  test.each([
    { object: 'error', message: 'There is no model m' },
    { detail: 'There is no model m' },
    { error: 'There is no model m' },
  ])('in a form of its own: %j', async body => {
    const ran = await asked([{ status: 404, body: JSON.stringify(body) }])
    expect(ran.status).toBe(11)
    expect(ran.stderr).toMatch(/127\.0\.0\.1:\d+ answered 404: There is no model m\n/)
  })

  test.each(['null', '[]', '<html>Not here</html>', ''])('without saying why: %j', async body => {
    expect((await asked([{ status: 404, body }])).stderr).toMatch(/answered 404: Not Found\n/)
  })

  test('nobody listens there', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    await new Promise(done => taken.close(done))
    const env = { PUNCHLIST_MODEL: 'scripted/actor', SCRIPTED_BASE_URL: `http://127.0.0.1:${port}/v1` }
    const ran = await typed(['agent', 'do it'], { env })
    expect(ran.status).toBe(11)
    expect(ran.stderr).toContain(
      `127.0.0.1:${port} cannot be reached: nobody listens there\nStart the model's server, or set SCRIPTED_BASE_URL`,
    )
  })

  test.each<[string, Cue, string]>([
    ['a stream that is no JSON', { raw: 'data: {"choices": [oh\n\n' }, 'gave an answer that is none'],
    ['a page instead of a stream', { raw: '<html>Welcome</html>' }, 'gave an answer that is none'],
    ['a stream that stops', { raw: 'data: [DONE]\n\n' }, 'gave an answer that is none'],
    ['an error in the stream', { raw: 'data: {"error":{"message":"overloaded"}}\n\n' }, 'overloaded'],
    ['a connection that breaks', { breaks: 'I was about to' }, 'There is no connection to'],
  ])('%s', async (_, cue, fact) => {
    const ran = await asked([cue])
    expect(ran.status).toBe(11)
    expect(ran.stderr).toContain(fact)
  })

  test.each(['at once', 'in the answer'] as const)('no answer in the time it has: it hangs %s', async hang => {
    const ran = await asked([{ hang }], ['--timeout', '150ms', '--json'])
    expect(ran.status).toBe(11)
    expect(refusalIn(ran).message).toMatch(/^127.0.0.1:\d+ gave no answer within 150ms$/)
  })
})

test.concurrent('time that is used up with items open is work left, and the plan is as it stood', async () => {
  const cwd = scratch()
  const turn = ['--conversation', 'c', '--turn', 't']
  await typed(['plan', 'add', 'Look', 'Mend', ...turn], { cwd })
  await typed(['plan', 'start', ...turn], { cwd })
  const ran = await asked([{ hang: 'in the answer' }], ['--timeout', '150ms', '--json', ...turn], cwd)
  expect(ran).toMatchObject({ status: 10, stdout: '' })
  expect(refusalIn(ran)).toMatchObject({
    code: 'work_left',
    message: 'The time of this turn, 150ms, is used up, and 2 items are open',
    details: { conversation: 'c', turn: 't', remaining: 2 },
  })
  const { items } = JSON.parse((await typed(['plan', 'list', '--json', ...turn], { cwd })).stdout) as {
    items: { status: string }[]
  }
  expect(items.map(({ status }) => status)).toEqual(['in_progress', 'pending'])
})

test.concurrent('calls that are used up with items open are work left: the answer says what, and it can be carried on', async () => {
  const plan = { call: 'create_todo', input: { items: [{ title: 'Look' }, { title: 'Mend' }] } }
  const ran = await asked([plan, { say: 'I looked.' }], ['--max-calls', '2', '--json', '--conversation', "Ann's"])
  expect(ran.status).toBe(10)
  const { text, end, remaining, calls } = JSON.parse(ran.stdout) as Record<string, unknown>
  expect({ end, remaining, calls }).toEqual({ end: 'budget', remaining: 2, calls: 2 })
  expect(text).toBe('I looked.\n\nLeft in the plan:\n- Look (pending)\n- Mend (pending)')
  expect(refusalIn(ran)).toMatchObject({
    code: 'work_left',
    message: 'The calls of this turn, 2, are used up, and 2 items are open',
    hint: `Carry it on with: punchlist agent --conversation 'Ann'\\''s' "go on"`,
  })
})

test.concurrent('arguments that are no JSON and tools that are not there are told to the model, which goes on', async () => {
  const ran = await asked([
    { call: 'read_file', input: '{"path": "a' },
    { call: 'rm_rf', input: {} },
    { call: 'write_file', input: { path: 'a', text: 'b' } },
    { say: 'I cannot.' },
  ])
  expect(ran).toMatchObject({ status: 0, stdout: 'I cannot.\n' })
  const [broken, unknown, unoffered] = answersIn(ran.server.asked[3]!)
  expect(broken).toContain('read_file')
  expect(unknown).toContain('rm_rf')
  expect(unoffered).toContain('write_file')
})

test.concurrent('the key is sent, and is in no output and in no file', async () => {
  const cwd = scratch()
  const halves = [KEY.slice(0, 9), KEY.slice(9)].map(
    content => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
  )
  const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`
  const ran = await asked(
    [{ call: 'list_files', input: { path: KEY } }, { raw: `${halves.join('')}${end}` }],
    ['--conversation', 'c', KEY],
    cwd,
  )
  expect(ran.server.asked[0]!.headers.authorization).toBe(`Bearer ${KEY}`)
  expect(ran).toMatchObject({ status: 0, stdout: '[redacted]\n' })
  expect(ran.stderr).not.toContain(KEY)
  const kept = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  expect(kept.map(({ name }) => name)).toContain('c.jsonl')
  for (const { parentPath, name } of kept) expect(readFileSync(join(parentPath, name)).includes(KEY)).toBe(false)
})
