import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { stateFile } from '../../src/core/state-file.ts'
import { claudeCode } from '../../src/hosts/claude-code/hook.ts'
import { noteFailure } from '../../src/hosts/failing.ts'
import { answer, ended, start } from '../support/cli.ts'
import { Hooked } from '../support/hooked.ts'
import { scratch } from '../support/scratch.ts'

const SILENT = { status: 0, stdout: '', stderr: '' }

async function planned(env: Record<string, string> = {}): Promise<Hooked> {
  const hooked = new Hooked(scratch(), 'session-1', env)
  await answer(['plan', 'add', 'One'], hooked.here)
  return hooked
}

describe('a hook that can do nothing lets the host go, silently', () => {
  test('whatever it is sent', async () => {
    const hooked = await planned()
    const stop = { hook_event_name: 'Stop', session_id: 'session-1', cwd: hooked.cwd }
    const sent = [
      '',
      'not JSON',
      '[]',
      'null',
      '"Stop"',
      '{"hook_event_name":"Stop"',
      JSON.stringify({ ...stop, session_id: undefined }),
      JSON.stringify({ ...stop, session_id: 7 }),
      JSON.stringify({ ...stop, session_id: '' }),
      JSON.stringify({ ...stop, session_id: 'x'.repeat(300) }),
      JSON.stringify({ ...stop, session_id: 'a\u0000b' }),
      JSON.stringify({ ...stop, session_id: '../../etc' }),
      JSON.stringify({ ...stop, hook_event_name: 'constructor' }),
      JSON.stringify({ ...stop, hook_event_name: ['Stop'] }),
      JSON.stringify({ ...stop, pad: 'x'.repeat(10 * 1024 * 1024) }),
    ]
    for (const input of sent) expect(await hooked.send(input), input.slice(0, 80)).toEqual(SILENT)
    for (const host of ['nobody', 'constructor', '../claude-code']) {
      expect(await hooked.send(JSON.stringify(stop), host), host).toEqual(SILENT)
    }
  })

  test('and what it was sent that is no event is in the log, without a word of it', async () => {
    const home = scratch()
    const hooked = await planned({ HOME: home })
    for (const input of ['', ' \n', 'my secret', '[]', `{"pad":"${'x'.repeat(9 * 1024 * 1024)}"}`]) {
      expect(await hooked.send(input)).toEqual(SILENT)
    }
    const told = readFileSync(join(home, '.local/state/punchlist/hook.log'), 'utf8').trim().split('\n')
    expect(told.map(line => (JSON.parse(line) as { error: string }).error)).toEqual([
      'What was sent is no event',
      'What was sent is no event',
      expect.stringContaining('larger than'),
    ])
  })

  test('with fields of the wrong kind it uses what can be used', async () => {
    const hooked = await planned()
    const strange = { background_tasks: 'many', session_crons: { a: 1 }, permission_mode: 7, agent_type: ['x'] }
    expect(await hooked.tell('Stop', { ...strange, cwd: '/nowhere/at/all' })).toContain('1 remaining')
  })

  test('when its store is broken, is of a newer kind, or is locked by somebody who does not let go', async () => {
    const home = scratch()
    const log = () => readFileSync(join(home, '.local/state/punchlist/hook.log'), 'utf8').trim().split('\n')
    const broken = await planned({ HOME: home })
    writeFileSync(join(broken.cwd, '.punchlist/punchlist.db'), 'x'.repeat(8192))
    expect(await broken.raw({ hook_event_name: 'Stop' })).toEqual(SILENT)

    const newer = await planned({ HOME: home })
    const database = new DatabaseSync(join(newer.cwd, '.punchlist/punchlist.db'))
    database.exec('PRAGMA user_version = 999')
    database.close()
    expect(await newer.raw({ hook_event_name: 'Stop' })).toEqual(SILENT)

    const locked = await planned({ HOME: home })
    const rival = new DatabaseSync(join(locked.cwd, '.punchlist/punchlist.db'))
    rival.exec('BEGIN EXCLUSIVE')
    expect(await locked.raw({ hook_event_name: 'Stop' })).toEqual(SILENT)
    rival.exec('ROLLBACK')
    rival.close()
    expect(await locked.tell('Stop')).not.toBe('')

    const told = log().map(line => JSON.parse(line) as Record<string, string>)
    expect(told).toMatchObject([
      { host: 'claude-code', event: 'stopping', error: expect.stringContaining('unreadable_file') },
      { host: 'claude-code', event: 'stopping', error: expect.stringContaining('newer_schema') },
      { host: 'claude-code', event: 'stopping', error: expect.stringContaining('store_busy') },
    ])
  })

  test('when the server that keeps its list cannot be reached', async () => {
    const hooked = new Hooked(scratch(), 'session-1', { PUNCHLIST_STORE: 'postgres://nobody@127.0.0.1:9/none' })
    expect(await hooked.raw({ hook_event_name: 'Stop' })).toEqual(SILENT)
  })

  test('when its settings are wrong', async () => {
    const hooked = await planned()
    writeFileSync(join(hooked.cwd, 'punchlist.json'), '{"continuation":{"maxFruitless":-1}}')
    expect(await hooked.raw({ hook_event_name: 'Stop' })).toEqual(SILENT)
  })

  test('and where not even that can be written down', async () => {
    const home = scratch()
    writeFileSync(join(home, '.local'), 'a file')
    const { cwd } = await planned()
    const hooked = new Hooked(cwd, 'session-1', { HOME: home })
    writeFileSync(join(hooked.cwd, '.punchlist/punchlist.db'), 'x'.repeat(8192))
    expect(await hooked.raw({ hook_event_name: 'Stop' })).toEqual(SILENT)
  })
})

test('a session is judged though it cannot be written down which one it is', async () => {
  const home = scratch()
  const hooked = await planned({ HOME: home })
  writeFileSync(join(home, '.local/state/punchlist/sessions'), 'a file')
  const said = { session_id: 'session-1', cwd: hooked.cwd, hook_event_name: 'BeforeAgent', prompt: 'go on' }
  expect((await hooked.send(JSON.stringify(said), 'gemini')).stdout).toContain('1. pending \\"One\\"')
})

test('the log is never in the workspace, wherever the environment says that it should be', async () => {
  const { cwd } = await planned()
  const before = readdirSync(cwd)
  const home = scratch()
  expect(await new Hooked(cwd, 'session-1', { HOME: home, XDG_STATE_HOME: 'state' }).send('no event')).toEqual(SILENT)
  expect(readdirSync(join(home, '.local/state/punchlist'))).toEqual(['hook.log'])
  expect(readdirSync(cwd)).toEqual(before)
  expect(isAbsolute(stateFile('hook.log', { HOME: '' }))).toBe(true)
})

test('the log is for its owner alone, holds no credential, and does not grow for ever', () => {
  const home = scratch()
  vi.stubEnv('XDG_STATE_HOME', home)
  noteFailure(
    'claude-code',
    'stopping',
    new Error(`no answer from postgres://me:hunter2@host/db, Bearer ${'a1'.repeat(20)}`),
  )
  const file = join(home, 'punchlist/hook.log')
  expect(readFileSync(file, 'utf8')).toContain('no answer from postgres://me:[redacted]@host/db, Bearer [redacted]')
  expect([statSync(file).mode & 0o777, statSync(join(home, 'punchlist')).mode & 0o777]).toEqual([0o600, 0o700])
  writeFileSync(file, 'x'.repeat(300 * 1024))
  noteFailure('claude-code', undefined, 'something')
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2)
  expect(readdirSync(join(home, 'punchlist'))).toEqual(['hook.log', 'hook.log.old'])
  vi.unstubAllEnvs()
})

test('killed at any moment, it has written down before what it says: no budget is spent twice, none is lost', async () => {
  const hooked = await planned()
  const payload = JSON.stringify({ session_id: 'session-1', cwd: hooked.cwd, hook_event_name: 'Stop' })
  let said = 0
  for (let delay = 30; delay <= 120; delay += 5) {
    const child = start(['hook', 'claude-code'], { cwd: hooked.cwd })
    child.stdin!.on('error', () => {})
    child.stdin!.end(payload)
    const timer = setTimeout(() => child.kill('SIGKILL'), delay)
    if ((await ended(child)).stdout !== '') said++
    clearTimeout(timer)
  }
  const { continuation } = await answer<{ continuation: { injections: number }[] }>(['status'], { cwd: hooked.cwd })
  expect(continuation[0]!.injections).toBeGreaterThanOrEqual(said)
  expect(continuation[0]!.injections).toBeLessThanOrEqual(3)
  for (let left = continuation[0]!.injections; left < 3; left++) expect(await hooked.tell('Stop')).not.toBe('')
  expect(await hooked.tell('Stop')).toBe('')
})

test('no event of any form makes it throw', () => {
  const name = fc.constantFrom('Stop', 'SubagentStop', 'PostToolUse', 'TaskCreated', 'UserPromptSubmit', 'SessionStart')
  const fields = fc.dictionary(
    fc.constantFrom(
      'tool_name',
      'tool_input',
      'background_tasks',
      'session_crons',
      'source',
      'prompt',
      'task_id',
      'cwd',
    ),
    fc.anything(),
  )
  fc.assert(
    fc.property(name, fields, (event, rest) => {
      const told = claudeCode.read({ session_id: 's', hook_event_name: event, ...rest })
      expect(told === undefined || told.session === 's').toBe(true)
    }),
  )
})
