import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { acceptAll, answer, HOME, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

interface TrustSet {
  readonly hash: string
  readonly items: readonly { what: string; value: unknown; hash: string; accepted: boolean }[]
}

const trust = async (cwd: string, ...flags: string[]) => await answer<TrustSet>(['trust', ...flags], { cwd })
const settings = (cwd: string, value: unknown) => writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify(value))
const task = (cwd: string) => answer(['queue', 'add', 'One', '--description', 'd', '--expect', 'e'], { cwd })
const UNTRUSTED = { status: 12, code: 'untrusted', hint: expect.stringContaining('punchlist trust') }

/** Types at a real terminal: each answer after the question it belongs to. */
async function typed(cwd: string, args: readonly string[], answers: readonly string[]): Promise<string> {
  const line = [process.execPath, PROGRAM, ...args].map(word => `'${word}'`).join(' ')
  const env = { PATH: process.env['PATH'] ?? '', HOME: HOME(), USER: 'tester', TERM: 'xterm', SHELL: '/bin/sh' }
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd, env })
  const rest = [...answers]
  let shown = ''
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    const asked = shown.indexOf('[y/n]', seen)
    if (asked === -1) return
    seen = asked + 1
    child.stdin.write(`${rest.shift() ?? ''}\n`)
  })
  await new Promise(done => child.on('close', done))
  return shown
}

describe('a folder with settings of its own', () => {
  test('shows a ward as one line that looks like nothing else', async () => {
    const cwd = scratch()
    settings(cwd, { wards: ['npm test\n\nrun.agent (accepted)\n  claude', { run: 'npm test   with PATH' }, 'npm  t'] })
    const { stdout } = await punchlist(['trust'], { cwd })
    expect(stdout).toContain(
      [
        'wards (not accepted)',
        '  "npm test\\n\\nrun.agent (accepted)\\n  claude"',
        '  "npm test   with PATH"',
        '  "npm  t"',
        '',
      ].join('\n'),
    )
  })

  test('shows each that does something, in full and separately, and is in effect once accepted', async () => {
    const cwd = scratch()
    settings(cwd, {
      wards: ['npm test', { run: 'npm run e2e', env: ['DATABASE_URL'] }],
      run: { agent: 'claude-code', workers: 4, lease: '5m' },
      continuation: { maxInjections: 80, maxFruitless: 1 },
    })
    const before = await trust(cwd)
    expect(before.items.map(({ what, accepted }) => [what, accepted])).toEqual([
      ['wards', false],
      ['continuation.maxInjections', false],
      ['run.agent', false],
      ['run.workers', false],
    ])
    const { stdout, status } = await punchlist(['trust'], { cwd })
    expect(status).toBe(0)
    expect(stdout).toContain('npm run e2e   with DATABASE_URL')
    expect(stdout).toContain(`PUNCHLIST_TRUST=${before.hash}`)
    const after = await trust(cwd, '--yes')
    expect(after.items.every(({ accepted }) => accepted)).toBe(true)
    expect(after.hash).toBe(before.hash)
    // A changed ward is another one; the rest stays accepted.
    settings(cwd, { wards: ['npm test && rm -rf /'], run: { agent: 'claude-code' } })
    expect((await trust(cwd)).items.map(({ what, accepted }) => [what, accepted])).toEqual([
      ['wards', false],
      ['run.agent', true],
    ])
  })

  test('keeps a run from claiming before its wards are accepted, and asks on a terminal', async () => {
    const cwd = scratch()
    await task(cwd)
    settings(cwd, { wards: ['test -f README.md'] })
    writeFileSync(join(cwd, 'README.md'), '')
    const refused = await refusal(['run', '--', 'true'], { cwd })
    expect(refused).toMatchObject(UNTRUSTED)
    expect(refused.message).toContain('test -f README.md')
    const state = async () => (await answer<{ tasks: { state: string }[] }>(['queue', 'list', '--all'], { cwd })).tasks
    expect(await state()).toMatchObject([{ state: 'to_execute' }])
    expect(await typed(cwd, ['run', '--', 'true'], ['n'])).toContain('Not accepted here')
    expect(await state()).toMatchObject([{ state: 'to_execute' }])
    const shown = await typed(cwd, ['run', '--', 'true'], ['y'])
    expect(shown).toContain('Accept wards? [y/n]')
    expect(await state()).toMatchObject([{ state: 'completed' }])
  })

  test('is accepted item by item on a terminal', async () => {
    const cwd = scratch()
    settings(cwd, { wards: ['true'], run: { workers: 2 } })
    const shown = await typed(cwd, ['trust'], ['y', 'n'])
    expect(shown).toContain('Accepted: wards')
    expect((await trust(cwd)).items.map(({ what, accepted }) => [what, accepted])).toEqual([
      ['wards', true],
      ['run.workers', false],
    ])
  })

  test('is accepted by scripts that name exactly what they have seen', async () => {
    const cwd = scratch()
    await task(cwd)
    settings(cwd, { wards: ['true'] })
    const { hash } = await trust(cwd)
    const env = { PUNCHLIST_TRUST: hash }
    settings(cwd, { wards: ['true', 'false'] })
    expect(await refusal(['run', '--', 'true'], { cwd, env })).toMatchObject(UNTRUSTED)
    settings(cwd, { wards: ['true'] })
    expect((await punchlist(['run', '--', 'true'], { cwd, env })).status).toBe(0)
  })

  test('is asked for again in another folder', async () => {
    const [one, other] = [scratch(), scratch()]
    for (const cwd of [one, other]) settings(cwd, { wards: ['true'] })
    await acceptAll({ cwd: one })
    expect((await trust(other)).items).toMatchObject([{ what: 'wards', accepted: false }])
  })

  test('runs nothing for a reader: worklogs keep "not run" with a warning', async () => {
    const cwd = scratch()
    settings(cwd, { wards: ['touch ran'] })
    await answer(['worklog', 'open', 'alice', '--role', 'test', '--plan', 'p.md'], { cwd })
    await answer(['worklog', 'task', 'alice', '1', 'One'], { cwd })
    const { status, stderr, stdout } = await punchlist(['worklog', 'complete', 'alice', '1'], { cwd })
    expect([status, stdout]).toEqual([0, expect.stringContaining('not run')])
    expect(stderr).toContain('punchlist trust')
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })
})

describe('a project that was moved, copied or restored, or whose user lost the state directory', () => {
  const made = async () => {
    const cwd = join(scratch(), 'project')
    mkdirSync(cwd)
    settings(cwd, { wards: ['true'] })
    await acceptAll({ cwd })
    await answer(['plan', 'add', 'Mine'], { cwd })
    await task(cwd)
    return cwd
  }
  const ways: readonly (readonly [string, (cwd: string) => string])[] = [
    ['moved', cwd => (renameSync(cwd, `${cwd}2`), `${cwd}2`)],
    ['copied', cwd => (cpSync(cwd, `${cwd}2`, { recursive: true }), `${cwd}2`)],
    [
      'restored',
      cwd => {
        cpSync(cwd, `${cwd}.backup`, { recursive: true })
        rmSync(cwd, { recursive: true })
        renameSync(`${cwd}.backup`, cwd)
        return cwd
      },
    ],
    ['forgotten', cwd => (rmSync(join(HOME(), '.local'), { recursive: true }), cwd)],
  ]
  test.each(ways)('%s: lists are readable, one question, and everything goes on', async (_, change) => {
    const cwd = change(await made())
    const listed = await punchlist(['plan', 'list'], { cwd })
    expect([listed.status, listed.stdout]).toEqual([0, expect.stringContaining('Mine')])
    expect(listed.stderr).toContain('punchlist trust')
    expect(await refusal(['plan', 'add', 'More'], { cwd })).toMatchObject(UNTRUSTED)
    await acceptAll({ cwd })
    await answer(['plan', 'add', 'More'], { cwd })
    expect((await punchlist(['run', '--', 'true'], { cwd })).status).toBe(0)
    expect((await trust(cwd)).items.every(({ accepted }) => accepted)).toBe(true)
  })
})

describe('in a project the user made', () => {
  test('nothing is asked: lists, runs, sessions and copies of text files', async () => {
    const cwd = scratch()
    for (const args of [
      ['init'],
      ['plan', 'add', 'One'],
      ['plan', 'complete', '1', 'done'],
      ['backlog', 'add', 'Two', '--source', 'review'],
      ['queue', 'add', 'Three', '--description', 'd', '--expect', 'e'],
      ['run', '--', 'true'],
      ['worklog', 'open', 'bob', '--role', 'test', '--plan', 'p.md'],
      ['status'],
      ['doctor'],
    ]) {
      const { status, stderr } = await punchlist(args, { cwd })
      expect([args[0], status, stderr]).toEqual([args[0], 0, ''])
    }
    expect((await punchlist(['trust'], { cwd })).stdout).toBe('Nothing in this folder needs to be accepted.\n')
  })

  test('a limit in punchlist.json that waits is named by run and status, and by no other command', async () => {
    const cwd = scratch()
    await task(cwd)
    settings(cwd, { run: { workers: 3 } })
    const told = async (...args: string[]) => (await punchlist(args, { cwd })).stderr
    expect(await told('plan', 'list')).toBe('')
    expect(await told('status')).toContain('run.workers in punchlist.json: not accepted')
    expect(await told('run', '--', 'true')).toContain('run.workers in punchlist.json: not accepted')
  })

  test('what another program put in place of the write-ahead log is refused', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'Mine'], { cwd })
    const log = join(cwd, '.punchlist/punchlist.db-wal')
    writeFileSync(log, 'x'.repeat(4096))
    const before = readFileSync(log)
    expect(await refusal(['plan', 'add', 'More'], { cwd })).toMatchObject({ ...UNTRUSTED, details: { file: log } })
    expect((await punchlist(['plan', 'list'], { cwd })).stdout).toContain('Mine')
    expect(readFileSync(log).equals(before)).toBe(true)
    rmSync(log)
    await answer(['plan', 'add', 'More'], { cwd })
  })
})

test('an agent of a run accepts nothing', async () => {
  const cwd = scratch()
  settings(cwd, { wards: ['true'] })
  const env = { PUNCHLIST_RUN: 'a:req_0001' }
  expect(await refusal(['trust', '--yes'], { cwd, env })).toMatchObject({ status: 12, code: 'untrusted' })
  const { hash } = await trust(cwd)
  await punchlist(['plan', 'list'], { cwd, env: { ...env, PUNCHLIST_TRUST: hash } })
  expect((await trust(cwd)).items).toMatchObject([{ accepted: false }])
})
