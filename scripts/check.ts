import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Every check and every test; with `hosts`, the tests against the real programs. The last line counts them: `N passed, N failed`. */
const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'punchlist-check-'))
const report = join(folder, 'tests.json')

const CHECKS: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['build', ['node', 'scripts/build.ts']],
  ['types', ['tsc', '-p', 'tsconfig.json']],
  ['lint', ['oxlint', '--type-aware', '--deny-warnings']],
  ['format', ['biome', 'check', '--enforce-assist=true']],
  ['dead code', ['knip']],
  ['package', ['publint', '--strict']],
  ['package types', ['attw', '--pack', '.', '--profile', 'esm-only', '--exclude-entrypoints', './schema.json']],
]

let passed = 0
let failed = 0
const withHosts = process.argv[2] === 'hosts'
for (const [name, command] of withHosts ? [] : CHECKS) {
  const began = performance.now()
  const ok = (await run(command)) === 0
  process.stdout.write(`${ok ? 'ok' : 'FAILED'}  ${name}  ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
  if (ok) passed++
  else failed++
}
const config = withHosts ? ['--config', 'vitest.hosts.config.ts'] : []
const status = await run([
  'vitest',
  'run',
  ...config,
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
])
const counts = counted()
passed += counts.passed
// A run that ended badly without a failed test (a crash, an unhandled error) has failed all the same.
failed += counts.failed === 0 && status !== 0 ? 1 : counts.failed
rmSync(folder, { recursive: true, force: true })
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

async function run([program, ...args]: readonly string[]): Promise<number | null> {
  const path = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`
  const child = spawn(program!, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
  })
  return await new Promise((done, fail) => {
    child.on('error', fail)
    child.on('exit', done)
  })
}

function counted(): { passed: number; failed: number } {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>
    return { passed: numPassedTests ?? 0, failed: numFailedTests ?? 0 }
  } catch {
    return { passed: 0, failed: 1 }
  }
}
