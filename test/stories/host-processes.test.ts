import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { answer } from '../support/cli.ts'
import { Hooked } from '../support/hooked.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = JSON.stringify(join(import.meta.dirname, '../../bin/punchlist.js'))

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A project whose user has programs that start hooks, servers or both. */
function project() {
  const cwd = scratch()
  mkdirSync(join(cwd, '.git'))
  const started = (session: string) =>
    JSON.stringify({ hook_event_name: 'SessionStart', source: 'startup', cwd, session_id: session })
  const hook = (session: string) =>
    `require('node:child_process').spawnSync(process.execPath, [${PROGRAM}, 'hook', 'gemini'], { input: ${JSON.stringify(started(session))} });`
  const server = `require('node:child_process').spawn(process.execPath, [${PROGRAM}, 'mcp'], { stdio: 'inherit' });`
  return {
    sessions: join(cwd, '.local/state/punchlist/sessions'),
    announce: async (session: string) => {
      const { status } = await new Hooked(cwd, session, { HOME: cwd }).send(started(session), 'gemini')
      expect(status).toBe(0)
    },
    program: (name: string, does: { readonly hook?: string; readonly server?: boolean }) =>
      writeFileSync(join(cwd, name), (does.hook ? hook(does.hook) : '') + (does.server ? server : '')),
    /** The conversation of a plan that is made over the server which this shell command leads to. */
    scopeOf: async (script: string, meanwhile?: () => Promise<void>) => {
      const client = new Client({ name: 'test', version: '1' })
      const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, NODE: process.execPath }
      await client.connect(new StdioClientTransport({ command: 'sh', args: ['-c', `${script}; :`], cwd, env }))
      closing.push(() => client.close())
      await meanwhile?.()
      await client.callTool({ name: 'create_todo', arguments: { items: [{ title: 'One' }] } })
      const { elsewhere, plan } = await answer<{
        plan: { conversationId: string } | null
        elsewhere: { conversationId: string }[]
      }>(['status'], { cwd, env: { HOME: cwd } })
      return [...(plan ? [plan] : []), ...elsewhere].map(({ conversationId }) => conversationId)
    },
  }
}

describe('where a host does not tell its server which session it is in', () => {
  test('the session is that of the nearest process above both hook and server, whichever began last', async () => {
    const { announce, program, scopeOf } = project()
    program('host.cjs', { hook: 'near', server: true })
    expect(await scopeOf('"$NODE" host.cjs', () => announce('far'))).toEqual(['near'])
  })

  test('a server that was typed into the same shell is not the host’s', async () => {
    const { program, scopeOf, sessions } = project()
    program('host.cjs', { hook: 'another' })
    program('other.cjs', { server: true })
    expect(await scopeOf('"$NODE" host.cjs </dev/null; "$NODE" other.cjs')).toEqual(['default'])
    expect(readdirSync(sessions)).toHaveLength(1)
  })

  test('a process that has only the number of one that is gone is another', async () => {
    const { announce, program, scopeOf, sessions } = project()
    program('other.cjs', { server: true })
    await announce('gone')
    const file = join(sessions, readdirSync(sessions)[0]!)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/:\d+"/g, ':1"'))
    expect(await scopeOf('"$NODE" other.cjs')).toEqual(['default'])
  })
})
