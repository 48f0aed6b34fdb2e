import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { UNTOUCHED } from '../../src/continuation/judging.ts'
import type { HostEvent } from '../../src/hosts/event.ts'
import { opencode } from '../../src/hosts/opencode/hook.ts'
import { pi } from '../../src/hosts/pi/hook.ts'
import { ownCommand, runProgram } from '../../src/hosts/program.ts'

describe('what a plugin of ours tells', () => {
  const standing = { ...UNTOUCHED, injections: 2, before: { open: 3, completed: 1 }, injectedAt: 1_700_000_000_000 }

  test.each<HostEvent>([
    { type: 'recall' },
    { type: 'ended' },
    { type: 'spoke', text: 'Build it.', turn: 'msg_1' },
    { type: 'failed', aborted: true },
    { type: 'stopping', asked: false },
    { type: 'listed', whole: true, tasks: [{ key: 'Dig', title: 'Dig', status: 'in_progress' }] },
    { type: 'remember', standing },
  ])('arrives as it was told: $type', event => {
    const payload = JSON.parse(JSON.stringify({ session: 'ses_1', cwd: '/work', event })) as Record<string, unknown>
    for (const host of [opencode, pi]) expect(host.read(payload)).toEqual({ session: 'ses_1', cwd: '/work', event })
  })

  test('is left out where it cannot be', () => {
    const read = (event: unknown, session: unknown = 'ses_1') => opencode.read({ session, event })
    expect([
      read({ type: 'recall' }, ''),
      read({ type: 'recall' }, 7),
      read({ type: 'constructor' }),
      read({ type: 'listed', tasks: 'many' }),
      read({ type: 'remember', standing: { ...standing, injections: -1 } }),
      read({ type: 'remember', standing: { ...standing, hush: 'tired' } }),
      read(null),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined, undefined, undefined])
    expect(read({ type: 'listed', tasks: [{ title: 'no key' }, { key: 'Dig', status: 'odd' }, 3] })?.event).toEqual({
      type: 'listed',
      whole: true,
      tasks: [{ key: 'Dig', title: '', status: 'pending' }],
    })
  })

  test('may be anything', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('session', 'cwd', 'event', 'x'), fc.jsonValue()), payload => {
        opencode.read(payload)
      }),
    )
    const types = ['recall', 'ended', 'spoke', 'failed', 'stopping', 'listed', 'remember', '__proto__']
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.dictionary(fc.string(), fc.jsonValue()), (type, fields) => {
        opencode.read({ session: 's', event: { ...fields, type } })
      }),
    )
  })

  test('is replied to as it is, and with nothing where there is nothing to say', () => {
    expect(opencode.write({ type: 'nothing' }, {})).toEqual({})
    expect(JSON.parse(pi.write({ type: 'go_on', text: 'Go on.' }, {}).stdout!)).toEqual({
      type: 'go_on',
      text: 'Go on.',
    })
  })
})

describe('our own program', () => {
  afterEach(() => {
    delete process.env['PUNCHLIST_COMMAND']
  })

  test('is the one that is configured, that the environment names, of the same package, or on PATH', () => {
    const built = new URL('../../dist/opencode.js', import.meta.url).href
    const source = new URL('../../src/hosts/opencode/plugin.ts', import.meta.url).href
    const launcher = new URL('../../bin/punchlist.js', import.meta.url).pathname
    expect(ownCommand(undefined, built)).toEqual([process.execPath, launcher])
    expect(ownCommand([], source)).toEqual([process.execPath, launcher])
    expect(ownCommand(undefined, 'file:///nowhere/at/all.js')).toEqual(['punchlist'])
    process.env['PUNCHLIST_COMMAND'] = '["node", "/opt/punchlist.js"]'
    expect(ownCommand(undefined, built)).toEqual(['node', '/opt/punchlist.js'])
    process.env['PUNCHLIST_COMMAND'] = '/opt/my programs/punchlist'
    expect(ownCommand(undefined, built)).toEqual(['/opt/my programs/punchlist'])
    expect(ownCommand(['/usr/bin/punchlist'], built)).toEqual(['/usr/bin/punchlist'])
    process.env['PUNCHLIST_COMMAND'] = '[not JSON'
    expect(ownCommand(undefined, built)).toEqual([process.execPath, launcher])
  })

  test('is given what it is told, and no shell looks at it', async () => {
    const code = 'process.stdin.pipe(process.stdout); process.stderr.write(process.argv[1]); process.exitCode = 3'
    const ran = await runProgram([process.execPath, '-e', code], ['$(id); `id`'], { cwd: '/', input: 'told' })
    expect(ran).toEqual({ exit: 3, stdout: 'told', stderr: '$(id); `id`' })
  })

  test('may end before it has read what it is told', async () => {
    const input = 'x'.repeat(1_000_000)
    expect(await runProgram([process.execPath, '-e', ''], [], { cwd: '/', input })).toMatchObject({ exit: 0 })
  })

  test('is ended when whoever asked for it does not want it any more', async () => {
    const stop = new AbortController()
    const running = runProgram([process.execPath, '-e', 'setInterval(() => {}, 1000)'], [], {
      cwd: '/',
      signal: stop.signal,
      patient: true,
    })
    stop.abort()
    expect(await running).toMatchObject({ exit: null })
  })
})
