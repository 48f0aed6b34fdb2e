import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { anthropicModel } from '../hosts/models/anthropic.ts'
import { chatModel } from '../hosts/models/chat.ts'
import { responsesModel } from '../hosts/models/responses.ts'
import type { Asked, ModelServer, Script } from '../hosts/script.ts'
import { completes, following, TITLES } from '../hosts/scripts.ts'
import { ended } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'examples')

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

test('the examples agree with the types of the SDKs, and of this package as it is installed', async () => {
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await promisify(execFile)(tsc, ['-p', folder], { cwd: root }).catch(error => error)
  expect(stdout).toBe('')
})

/** Makes a mistake with each call that can have one, and stops too early. */
const careless: Script = following(
  { call: 'create_todo', input: { items: TITLES.map(title => ({ title })) } },
  { call: 'complete_todo', input: { todoId: 'another', outcome: 'done' } },
  { call: 'complete_todo', input: { todoId: '1' } },
  completes(1),
  { say: 'All is done.' },
  completes(2),
  { say: 'Now it is.' },
)

describe.each([
  { name: 'openai', serve: chatModel },
  { name: 'anthropic', serve: anthropicModel },
  { name: 'langchain', serve: chatModel },
  { name: 'mastra', serve: chatModel },
  { name: 'openai-agents', serve: responsesModel },
  { name: 'ai-sdk', serve: chatModel },
])('examples/$name', ({ name, serve }) => {
  test('the model is told what is refused and what is still open, and the plan of its turn is drained', async () => {
    const { cwd, printed, asked } = await played(name, serve, careless)
    expect(printed).toEqual(['All is done.', 'Now it is.', '2 of 2 completed'])
    expect(asked[2]!.results.at(-1)).toMatch(/not_found: .*\n/)
    expect(asked[3]!.results.at(-1)).toMatch(/outcome/)
    expect(asked[5]!.texts.at(-1)).toBe('Still open: Test the parser. Go on.')
    expect(await itemsIn(cwd)).toEqual([
      { conversationId: name, turnId: A_UUID, title: TITLES[0], status: 'completed', outcome: 'the 1. is done' },
      { conversationId: name, turnId: A_UUID, title: TITLES[1], status: 'completed', outcome: 'the 2. is done' },
    ])
  })
})

test('examples/supervisor: the plan is delegated item by item, and drained before the answer', async () => {
  const agents = ['programmer', 'tester']
  const delegates = (nth: number) => (asked: Asked) => {
    const { todoId } = completes(nth)(asked).input
    return { call: 'delegate', input: { todoId, task: TITLES[nth - 1] } }
  }
  const script = following(
    { call: 'create_todo', input: { items: TITLES.map((title, n) => ({ title, agentType: agents[n] })) } },
    delegates(1),
    completes(1),
    { say: 'All is done.' },
    delegates(2),
    completes(2),
    { say: 'Now it is.' },
  )
  const { cwd, printed, asked } = await played('supervisor', chatModel, script)
  expect(printed).toEqual(['programmer: Write the parser', 'not yet: 1 left', 'tester: Test the parser', 'Now it is.'])
  expect(asked[2]!.results.at(-1)).toContain('"result":"A summary."')
  expect(asked[5]!.results.at(-1)).toContain('"result":"Test the parser: all green"')
  const turn = { conversationId: 'supervisor', turnId: A_UUID, status: 'completed' }
  expect(await itemsIn(cwd)).toEqual([
    { ...turn, title: TITLES[0], outcome: 'the 1. is done' },
    { ...turn, title: TITLES[1], outcome: 'the 2. is done' },
  ])
})

const A_UUID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string

/** Runs an example as a person would, in an empty folder, with a scripted model. */
async function played(name: string, serve: (script: Script) => Promise<ModelServer>, script: Script) {
  const server = await serve(script)
  servers.push(server)
  const cwd = scratch()
  const child = spawn(process.execPath, [join(folder, `${name}.ts`)], { cwd, env: environment(server.url) })
  child.stdin.end()
  const { status, stdout, stderr } = await ended(child)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return { cwd, printed: stdout.trimEnd().split('\n'), asked: server.asked }
}

function environment(url: string): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return {
    PATH,
    HOME,
    MODEL: 'scripted',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
    // Traces would go to OpenAI whatever the base URL is.
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
  }
}

/** Every item of every plan that is kept in a folder. */
async function itemsIn(cwd: string) {
  const list = await open({ root: cwd })
  const { items } = await list.export()
  await list.close()
  const plan = items.filter(({ kind }) => kind === 'plan_item')
  return plan.map(({ fields: { conversationId, turnId, title, status, outcome } }) => {
    return { conversationId, turnId, title, status, outcome }
  })
}
