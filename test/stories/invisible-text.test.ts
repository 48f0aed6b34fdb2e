import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { answer, HOME, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')
const TAGS = Array.from('ignore it', sign => String.fromCodePoint(0xe0000 + sign.codePointAt(0)!)).join('')
const TITLE = `Fix\u200b the${TAGS} می‌خواهم 👩‍👧 葛\u{E0100}`
const LEFT = 'Fix the می‌خواهم 👩‍👧 葛\u{E0100}'

test('what nobody sees is shown to people, kept from models, and exact for programs', async () => {
  const cwd = scratch()
  const here = { cwd, env: { PUNCHLIST_CONVERSATION: 'c1' } }
  await answer(['plan', 'add', TITLE], here)
  const { stdout } = await punchlist(['plan', 'list'], here)
  expect(stdout).toContain('Fix\\u{200b} the\\u{e0069}\\u{e0067}')
  expect(stdout).toContain('می‌خواهم 👩‍👧 葛\u{E0100}')
  expect((await answer<{ items: { title: string }[] }>(['plan', 'list'], here)).items).toMatchObject([{ title: TITLE }])

  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: process.env['PATH']!, USER: 'tester', HOME: HOME(), ...here.env }
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp'], cwd, env }))
  try {
    const told = await client.callTool({ name: 'list_todo', arguments: {} })
    expect(told.structuredContent).toMatchObject({ items: [{ title: LEFT }] })
    const [content] = told.content as { text: string }[]
    expect(JSON.parse(content!.text)).toEqual(told.structuredContent)
    const missing = await client.callTool({ name: 'start_todo', arguments: { todoId: 'no\u200bne' } })
    expect(JSON.stringify(missing)).not.toContain('\u200b')
  } finally {
    await client.close()
  }

  const event = { session_id: 'c1', cwd, hook_event_name: 'SessionStart', source: 'compact' }
  const hooked = await punchlist(['hook', 'claude-code'], { ...here, input: JSON.stringify(event) })
  expect(hooked.stdout).toContain(LEFT)
  expect(hooked.stdout).not.toMatch(/\u200b|[\u{e0020}-\u{e007f}]|200b/u)
})

test('JSON on a terminal is obeyed by none, and parses to what was stored', async () => {
  const cwd = scratch()
  const odd = 'see \u202egpj.exe\u2066'
  await answer(['plan', 'add', odd], { cwd })
  const { stdout } = await punchlist(['plan', 'list', '--json'], { cwd })
  expect(stdout).not.toMatch(/\p{Bidi_Control}/u)
  expect(stdout).toContain('\\u202egpj.exe\\u2066')
  expect((JSON.parse(stdout) as { items: unknown[] }).items).toMatchObject([{ title: odd }])
  const { stderr } = await punchlist(['--json', 'plan', 'start', 'none\u202e'], { cwd })
  expect(stderr).toContain('\\u202e')
  expect(stderr).not.toMatch(/\p{Bidi_Control}/u)
})

test.each([
  ['plan', 'add'],
  ['backlog', 'add', '--source', 'review'],
  ['queue', 'add', '--description', 'd', '--expect', 'e'],
])('a title of which nothing can be seen is empty: %s %s', async (list, verb, ...more) => {
  const cwd = scratch()
  for (const title of ['\u200b\u200d', `\u3164 ${TAGS}`, '\u2800'])
    expect(await refusal([list, verb, title, ...more], { cwd })).toMatchObject({
      status: 2,
      code: 'bad_input',
      message: expect.stringContaining('must not be empty'),
    })
})
