import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { open, type Punchlist } from '../src/index.ts'
import { answerCall, type Definition, TOOL_SETS, type Tool, type ToolSetName, toolsFor } from '../src/tools.ts'
import { scratch } from './support/scratch.ts'

const root = join(import.meta.dirname, '..')
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function fresh(): Promise<Punchlist> {
  const list = await open({ root: scratch(), store: 'sqlite::memory:', conversation: 'c', turn: 't' })
  closing.push(() => list.close())
  return list
}

async function planTools(): Promise<{ list: Punchlist; tools: Tool[]; named: Record<string, Tool> }> {
  const list = await fresh()
  const tools = await toolsFor(list)
  return { list, tools, named: Object.fromEntries(tools.map(tool => [tool.name, tool])) }
}

describe('what a model is told', () => {
  test('is what the MCP server tells: the same tools in the same words, set by set', async () => {
    const client = new Client({ name: 'test', version: '1' })
    const args = [join(root, 'bin/punchlist.js'), 'mcp', '--tools', TOOL_SETS.join(',')]
    const { PATH = '' } = process.env
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: scratch(), env: { PATH, USER: 'tester' } }),
    )
    closing.push(() => client.close())
    const { tools } = await client.listTools()
    const told = (await toolsFor(await fresh(), TOOL_SETS)).map(definition)
    expect(told.length).toBeGreaterThan(40)
    expect(told).toEqual(tools.map(definition))
  })

  test('is the plan unless other sets are named, and their order is kept', async () => {
    const list = await fresh()
    const names = async (...sets: (readonly ToolSetName[])[]) =>
      (await toolsFor(list, ...sets)).map(({ name }) => name.replace(/_.*/, ''))
    expect(await names()).toEqual(['create', 'list', 'start', 'complete', 'block'])
    expect([...new Set(await names(['worklog', 'backlog']))]).toEqual(['worklog', 'backlog'])
  })

  test('has no set that does not exist', async () => {
    await expect(toolsFor(await fresh(), ['plan', 'todo' as 'plan'])).rejects.toMatchObject({
      code: 'bad_input',
      hint: 'There are: plan, backlog, queue, worklog.',
    })
  })
})

describe('a call', () => {
  test('is carried out where the workspace was opened: a turn that the model sends is refused by name', async () => {
    const { list, named } = await planTools()
    const scope = { turnId: 'stolen', conversationId: 'stolen' }
    const stolen = await named['create_todo']!.answer({ ...scope, items: [{ ...scope, title: 'Write the parser' }] })
    expect(stolen.refused).toBe(true)
    expect(stolen.text).toMatch(
      /^bad_input: turnId: .*conversationId: .*items\.0\.turnId: .*items\.0\.conversationId: /,
    )
    await named['create_todo']!.execute({ items: [{ title: 'Write the parser' }] })
    expect((await list.plan.list()).items).toMatchObject([{ title: 'Write the parser' }])
    expect((await list.as(scope).plan.list()).items).toEqual([])
  })

  test('is answered as text, and its arguments may be the text that they come in', async () => {
    const { named } = await planTools()
    const { text, refused } = await named['create_todo']!.answer('{"items":[{"title":"Write the parser"}]}')
    expect(refused).toBe(false)
    expect(JSON.parse(text)).toMatchObject({ created: [{ title: 'Write the parser' }], remaining: 1 })
    for (const nothing of ['', ' ', '{}', 'null', null, undefined, {}]) {
      expect(JSON.parse((await named['list_todo']!.answer(nothing)).text)).toMatchObject({ summary: { total: 1 } })
    }
  })

  test('that is refused says why and what to do: thrown by execute, told by answer', async () => {
    const { named } = await planTools()
    const input = { todoId: 'another', outcome: 'done' }
    const refusal = { code: 'not_found', message: expect.any(String) as string, hint: expect.any(String) as string }
    const thrown = await named['complete_todo']!.execute(input).catch((error: unknown) => error)
    expect(thrown).toMatchObject(refusal)
    const { code, message, hint } = thrown as Record<keyof typeof refusal, string>
    const { text, refused } = await named['complete_todo']!.answer(input)
    expect(refused).toBe(true)
    expect(text.startsWith(`${code}: ${message}\n${hint}`)).toBe(true)
  })

  test('with arguments that are no JSON, or not the right ones, is refused and changes nothing', async () => {
    const { list, named } = await planTools()
    const half = await named['create_todo']!.answer('{"items":[{"title"')
    expect(half).toMatchObject({ refused: true, text: expect.stringMatching(/^bad_input: The arguments are no JSON/) })
    const wrong = await named['create_todo']!.answer({ items: [{ title: 'Write' }, { context: 7 }] })
    expect(wrong.text).toContain('items.1.title: is missing; items.1.context: must be string, got 7')
    expect((await list.plan.list({ status: 'all' })).items).toEqual([])
  })

  test('may send null for what it leaves out, as models must whose provider knows no optional fields', async () => {
    const { named } = await planTools()
    const item = { title: 'Write', context: null, completionCriteria: null, agentType: null, order: null }
    expect(await named['create_todo']!.answer({ items: [item] })).toMatchObject({ refused: false })
    expect(await named['start_todo']!.answer({ todoId: null })).toMatchObject({ refused: false })
    const { text } = await named['complete_todo']!.answer({ todoId: '1', outcome: null, status: null })
    expect(text).toMatch(/^bad_input: outcome: must be string, got null\n/)
  })

  test('that is made together with others is carried out after those before it, refused ones too', async () => {
    const { list, named } = await planTools()
    const { create_todo: create, start_todo: start, complete_todo: complete } = named
    const answers = await Promise.all([
      create!.answer({ items: [{ title: 'One' }, { title: 'Two' }] }),
      complete!.answer({ todoId: '9', outcome: 'done' }),
      start!.answer({}),
      complete!.answer({ todoId: '1', outcome: 'first' }),
      start!.answer({}),
      complete!.answer({ todoId: '2', outcome: 'second' }),
    ])
    expect(answers.map(({ refused }) => refused)).toEqual([false, true, false, false, false, false])
    const { items } = await list.plan.list({ status: 'all' })
    expect(items.map(({ title, outcome }) => [title, outcome])).toEqual([
      ['One', 'first'],
      ['Two', 'second'],
    ])
  })

  test('by name is answered too, and told which tools there are where there is none of that name', async () => {
    const { tools } = await planTools()
    expect(await answerCall(tools, 'create_todo', { items: [{ title: 'One' }] })).toMatchObject({ refused: false })
    expect(await answerCall(tools, 'delete\ntodo', '{}')).toEqual({
      refused: true,
      text:
        'not_found: There is no tool delete todo\n' +
        'Call one of: create_todo, list_todo, start_todo, complete_todo, block_todo.',
    })
  })

  test('that meets a mistake of ours is no refusal: it throws', async () => {
    const { list, named } = await planTools()
    await list.close()
    closing.length = 0
    await expect(named['list_todo']!.answer({})).rejects.toThrow(/not open/)
  })
})

describe('what is loaded', () => {
  test('punchlist loads neither the AI SDK nor what makes JSON Schemas', () => {
    expect(loadedBy('dist/index.js')).toEqual({ sdk: false, schemas: false })
  })

  test('the tools load no SDK, and the AI SDK is loaded with the supervisor', () => {
    expect(loadedBy('dist/tools.js')).toEqual({ sdk: false, schemas: true })
    expect(loadedBy('dist/supervisor/index.js')).toEqual({ sdk: true, schemas: true })
  })
})

function definition({ name, description, inputSchema, outputSchema }: { [K in keyof Definition]?: unknown }) {
  return { name, description, inputSchema, outputSchema }
}

/** What a program loads that imports a file of the package. */
function loadedBy(file: string): { sdk: boolean; schemas: boolean } {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load(url, context, next) {
      const made = next(url, context)
      loaded.push({ url, schemas: String(made.source).includes('/@valibot/to-json-schema/') })
      return made
    } })
    await import(${JSON.stringify(pathToFileURL(join(root, file)).href)})
    const sdk = loaded.some(({ url }) => url.includes('/node_modules/ai/'))
    process.stdout.write(JSON.stringify({ sdk, schemas: loaded.some(({ schemas }) => schemas) }))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return JSON.parse(printed) as { sdk: boolean; schemas: boolean }
}
