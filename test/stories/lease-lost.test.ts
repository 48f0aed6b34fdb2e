import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, inject, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import { type Export, open } from '../../src/index.ts'
import { answer, HOME, punchlist, type Surrounded } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')
/** So many claims were there before: a number that is found wherever it is printed. */
const BEFORE = 748_213
const CURRENT = /74821[345]/

const STORES: Record<string, () => Record<string, string>> = {
  files: () => ({}),
  sqlite: () => ({ PUNCHLIST_STORE: `sqlite:${join(scratch(), 'list.db')}` }),
  postgres: () => ({ PUNCHLIST_STORE: freshSchema(inject('postgres')) }),
}

/** What asks for the token of a claim, as it is typed and as a model calls it. */
const VERBS: Record<string, Record<string, unknown>> = {
  'queue complete': { id: 'req_0001' },
  'queue return': { id: 'req_0001', reason: 'x' },
  'queue heartbeat': { id: 'req_0001' },
  'queue fail': { id: 'req_0001', type: 't', what: 'w' },
  'queue checkpoint': { id: 'req_0001', summary: 's' },
  'backlog complete': { id: 'review/001', reason: 'x' },
  'backlog release': { id: 'review/001', reason: 'x' },
  'backlog block': { id: 'review/001', on: ['review/002'] },
  'backlog interrupt': { id: 'review/001', reason: 'x' },
}

/** A task and a todo that were claimed very often, each claimed once more. */
async function claimedIn(env: Record<string, string>): Promise<Surrounded & { env: Record<string, string> }> {
  const source = await open({ root: scratch(), store: 'sqlite::memory:', session: 's1' })
  await source.queue.add({ items: [{ title: 'a', description: 'd', expect: 'e' }] })
  const todo = (title: string) => ({ title, source: 'review', status: 'ready' as const })
  await source.backlog.add({ items: [todo('a'), todo('b')] })
  const document: Export = await source.export()
  await source.close()
  const items = document.items.map(item => ({ ...item, token: BEFORE }))
  const here = { cwd: scratch(), env: { PUNCHLIST_SESSION: 's1', ...env } }
  writeFileSync(join(here.cwd, 'all.json'), JSON.stringify({ ...document, items }))
  await answer(['import', 'all.json'], here)
  const { token } = await answer<{ token: number }>(['queue', 'claim', 'req_0001', '--worker', 'ann'], here)
  const { todo: held } = await answer<{ todo: { token: number } }>(
    ['backlog', 'claim', 'review/001', '--as', 'ann'],
    here,
  )
  expect([token, held.token].every(number => CURRENT.test(String(number)))).toBe(true)
  return here
}

const flags = ({ id, ...fields }: Record<string, unknown>) => [
  String(id),
  ...Object.entries(fields).flatMap(([name, value]) => [`--${name}`, String(value)]),
]

describe.each(Object.entries(STORES))(
  'a lost lease, in %s, never tells the token that counts',
  (_name, environment) => {
    test('neither in words nor in JSON, at the command line', async () => {
      const here = await claimedIn(environment())
      for (const [verb, fields] of Object.entries(VERBS)) {
        for (const json of [[], ['--json']]) {
          const typed = [...json, ...verb.split(' '), ...flags(fields), '--token', '2']
          const { status, stdout, stderr } = await punchlist(typed, here)
          expect({ verb, status }).toEqual({ verb, status: 6 })
          expect(stdout + stderr).toContain('is no longer yours')
          expect(stdout + stderr).not.toMatch(CURRENT)
        }
      }
    })

    test('to a program', async () => {
      const here = await claimedIn(environment())
      const state = process.env['XDG_STATE_HOME']
      process.env['XDG_STATE_HOME'] = join(HOME(), '.local/state')
      const { PUNCHLIST_STORE: store } = here.env
      const list = await open({ root: here.cwd, session: 's1', ...(store === undefined ? {} : { store }) })
      try {
        for (const [verb, fields] of Object.entries(VERBS)) {
          const [room, name] = verb.split(' ') as ['queue', 'complete']
          const call = list[room][name] as (input: Record<string, unknown>) => Promise<unknown>
          const problem = await call({ ...fields, token: 2 }).catch((error: unknown) => error)
          expect(problem, verb).toBeInstanceOf(Problem)
          expect((problem as Problem).code, verb).toBe('lease_lost')
          expect(JSON.stringify(problem) + String((problem as Problem).stack), verb).not.toMatch(CURRENT)
        }
      } finally {
        await list.close()
        if (state === undefined) delete process.env['XDG_STATE_HOME']
        else process.env['XDG_STATE_HOME'] = state
      }
    })

    test('to a model, with a wrong token and without one', async () => {
      const { cwd, env } = await claimedIn(environment())
      const client = new Client({ name: 'test', version: '1' })
      const around = { PATH: process.env['PATH'] ?? '', HOME: HOME(), USER: 'tester', ...env }
      const args = [PROGRAM, 'mcp', '--tools', 'queue,backlog']
      await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env: around }))
      try {
        for (const [verb, fields] of Object.entries(VERBS)) {
          for (const token of [{ token: 2 }, {}]) {
            const result = await client.callTool({ name: verb.replace(' ', '_'), arguments: { ...fields, ...token } })
            const answered = JSON.stringify(result)
            expect(answered, verb).toMatch(/lease_lost: /)
            expect(answered, verb).not.toMatch(CURRENT)
          }
        }
      } finally {
        await client.close()
      }
    })
  },
)
