import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { runCheck } from '../../src/core/check.ts'
import { harmless, harmlessLine, redacted, redactingLines } from '../../src/core/text.ts'
import { words } from '../../src/core/words.ts'
import { evidenceIn } from '../../src/plans/evidence.ts'

/** Text as people, programs and attackers send it. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('\u001b', '[', ';', 'm', '\u009b', '\n', '"', "'", '\\', ' ', '`', 'a', '/', '.', ':', '@'),
    maxLength: 300,
  }),
)

describe('text from outside', () => {
  test('made harmless, it holds nothing a terminal obeys, and printable text is as it was', () => {
    fc.assert(
      fc.property(anything, text => {
        // oxlint-disable-next-line no-control-regex -- their absence is the point
        expect(harmlessLine(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/)
      }),
    )
    expect(harmless('plain, ünïcode ✓ 日本\nand lines')).toBe('plain, ünïcode ✓ 日本\nand lines')
  })

  test('words: what a shell would make of quotes, and nothing more', () => {
    expect(words('npm test')).toEqual(['npm', 'test'])
    expect(words(`a "b c" 'd "e"' f\\ g "h\\"i" ''`)).toEqual(['a', 'b c', 'd "e"', 'f g', 'h"i', ''])
    expect(words('echo $HOME; rm -rf * | x && y')).toEqual(['echo', '$HOME;', 'rm', '-rf', '*', '|', 'x', '&&', 'y'])
    expect(words('open "quote')).toBeUndefined()
    expect(words('   ')).toEqual([])
    fc.assert(
      fc.property(fc.array(anything), list => {
        const line = list.map(word => `'${word.replaceAll("'", `'"'"'`)}'`).join(' ')
        expect(words(line)).toEqual(list)
      }),
    )
  })

  test('credentials are taken out', () => {
    for (const secret of [
      'sk-abcdefghijklmnopqrstuvwx',
      'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
      'AKIAABCDEFGHIJKLMNOP',
      'Bearer abcdef.ghijkl-mnop',
      'postgres://user:hunter2@db.example.org/x',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
    ]) {
      const out = redacted(`before ${secret} after`)
      expect(out).toContain('[redacted]')
      expect(out).not.toMatch(/abcdefghij|hunter2|MIIE|ABCDEFGHIJ/)
      expect(out).toMatch(/^before .* after$/s)
    }
    expect(redacted('nothing to see: a-b c_d https://example.org/x')).toBe(
      'nothing to see: a-b c_d https://example.org/x',
    )
  })

  test('no input takes long, however long and odd it is', () => {
    const odd = [
      ' ',
      '\n',
      'a',
      '`',
      '"',
      '\\',
      'a/',
      '://',
      'a.',
      '#',
      '0',
      'sk-',
      '-----BEGIN PRIVATE KEY-----',
      'a:b@',
      'Bearer ',
    ]
    for (const unit of odd) {
      const text = unit.repeat(Math.ceil(200_000 / unit.length))
      for (const reader of [harmless, harmlessLine, redacted, words, evidenceIn]) {
        const began = performance.now()
        reader(text)
        expect(performance.now() - began, `${reader.name} of ${JSON.stringify(unit)}`).toBeLessThan(1000)
      }
    }
  })
})

describe('a check', () => {
  const now = () => new Date()
  const node = process.execPath

  test('keeps command, exit status, duration and the end of both outputs', async () => {
    const script = `process.stdout.write('x'.repeat(10000)); console.error('the end'); process.exitCode = 4`
    const ran = await runCheck([node, '-e', script], { cwd: '/', now })
    expect(ran).toMatchObject({ command: [node, '-e', script], exit: 4, signal: null })
    expect(ran.output.length).toBe(4096)
    expect(ran.output).toContain('the end')
    expect(ran.durationMs).toBeGreaterThan(0)
  })

  test('that cannot be started, or is killed, has not passed', async () => {
    expect(await runCheck(['no-such-program'], { cwd: '/', now })).toMatchObject({
      exit: null,
      output: expect.stringContaining('ENOENT'),
    })
    expect(await runCheck([node, '-e', 'process.kill(process.pid, "SIGKILL")'], { cwd: '/', now })).toMatchObject({
      exit: null,
      signal: 'SIGKILL',
    })
  })

  test('that goes on for ever is stopped, with everything it started', async () => {
    const script = `const { spawn } = require('node:child_process'); const c = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']); console.log('child ' + c.pid); setInterval(() => {}, 1000)`
    const ran = await runCheck([node, '-e', script], { cwd: '/', now, timeoutMs: 3000 })
    expect(ran.exit).toBeNull()
    expect(ran.output).toContain('stopped after 3000 ms')
    const child = Number(/child (\d+)/.exec(ran.output)?.[1])
    await expect.poll(() => alive(child), { timeout: 5000 }).toBe(false)
  })

  test('sees known variables of the environment, and those that it names', async () => {
    const set = {
      PUNCHLIST_TEST_API_KEY: 'k',
      PUNCHLIST_TEST_PLAIN: 'p',
      PUNCHLIST_TOKEN: '7',
      PUNCHLIST_STORE: 'postgres://me:pw@host/db',
      DATABASE_URL: 'd',
      HTTPS_PROXY: 'http://me:pw@proxy',
      NODE_OPTIONS: '--no-warnings',
      CARGO_HOME: '/c',
    }
    for (const [name, value] of Object.entries(set)) vi.stubEnv(name, value)
    const script = `console.log(${JSON.stringify(Object.keys(set))}.filter(name => name in process.env).join())`
    const seen = async (passes: string[]) =>
      (await runCheck([node, '-e', script], { cwd: '/', now, passes })).output.trim()
    expect(await seen([])).toBe('PUNCHLIST_TEST_PLAIN,CARGO_HOME')
    expect(await seen(['DATABASE_URL', 'PUNCHLIST_TOKEN'])).toBe('PUNCHLIST_TEST_PLAIN,DATABASE_URL,CARGO_HOME')
    vi.unstubAllEnvs()
  })

  test('that fails tells the names that it did not get: those that it mentions, or else ten', async () => {
    for (const name of ['DATABASE_URL', 'A_1', 'A_2']) vi.stubEnv(name, 'hidden')
    const failing = async (said: string, more = {}) =>
      (await runCheck([node, '-e', `console.log('${said}'); process.exitCode = 1`], { cwd: '/', now, ...more })).output
    expect(await failing('DATABASE_URL is not set')).toBe(
      'DATABASE_URL is not set\n[not passed on to it: DATABASE_URL]\n',
    )
    const other = await failing('no')
    expect(other).toMatch(
      /^no\n\[\d+ variables of the environment not passed on to it: (?:\w+, )*A_1, A_2, (?:\w+, )+\w+ and \d+ more\]\n$/,
    )
    expect(other).not.toContain('hidden')
    expect(await failing('no', { quiet: true })).toBe('no\n')
    expect((await runCheck([node, '-e', ''], { cwd: '/', now })).output).toBe('')
    vi.unstubAllEnvs()
  })
})

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a key that comes line by line is taken out to its end; a heading without one does not hide everything', () => {
  const clean = redactingLines()
  const key = ['a', '-----BEGIN PRIVATE KEY-----', 'c2VjcmV0', '-----END PRIVATE KEY-----', 'b']
  expect(key.map(clean)).toEqual(['a', '[redacted]', '[redacted]', '[redacted]', 'b'])
  const whole = 'x -----BEGIN PRIVATE KEY-----c2VjcmV0-----END PRIVATE KEY----- y'
  expect([whole, 'z'].map(clean)).toEqual(['x [redacted] y', 'z'])
  clean('-----BEGIN PRIVATE KEY-----')
  expect(Array.from({ length: 400 }, () => clean('text')).at(-1)).toBe('text')
})
