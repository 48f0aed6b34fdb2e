import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

/** Every check and every test; with `hosts`, the tests against the real programs. The last line counts them: `N passed, N failed`. */
const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'punchlist-check-'))
const report = join(folder, 'tests.json')

type Check = readonly [name: string, command: readonly string[]]

const SOURCES: readonly Check[] = [
  ['types', ['tsc', '-p', 'tsconfig.json']],
  ['lint', ['oxlint', '--type-aware', '--deny-warnings']],
  ['format', ['biome', 'check', '--enforce-assist=true']],
  ['dead code', ['knip']],
]
const PACKAGE: readonly Check[] = [
  ['build', ['node', 'scripts/build.ts']],
  ['package', ['publint', '--strict']],
  [
    'package types',
    ['attw', '--pack', '.', '--profile', 'esm-only', '--exclude-entrypoints', './schema.json', './config.schema.json'],
  ],
]

let passed = 0
let failed = 0
const failures: string[] = []
const withHosts = process.argv[2] === 'hosts'
if (!withHosts) {
  await Promise.all(SOURCES.map(check))
  // Each of these builds, or needs what was built.
  for (const one of PACKAGE) await check(one)
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
for (const name of [...failures, ...counts.failures]) process.stdout.write(`failed: ${name}\n`)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

/** What it prints comes in one piece: several are at work at once. */
async function check([name, command]: Check): Promise<void> {
  const began = performance.now()
  let printed = ''
  const ok = (await run(command, text => (printed += text))) === 0
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(`${printed}${ok ? 'ok' : 'FAILED'}  ${name}  ${seconds} s\n`)
  if (ok) passed++
  else {
    failed++
    failures.push(name)
  }
}

async function run([program, ...args]: readonly string[], hear?: (text: string) => void): Promise<number | null> {
  const path = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`
  const out = hear ? 'pipe' : 'inherit'
  const child = spawn(program!, args, { cwd: root, stdio: ['ignore', out, out], env: { ...process.env, PATH: path } })
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => hear?.(text))
  return await new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', done)
  })
}

type Results = {
  numPassedTests: number
  numFailedTests: number
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}

function counted(): { passed: number; failed: number; failures: string[] } {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as Results
    const named = testResults.flatMap(result => {
      const file = relative(root, result.name)
      const tests = result.assertionResults.filter(test => test.status === 'failed')
      return tests.length === 0 && result.status === 'failed' ? [file] : tests.map(test => `${file}: ${test.fullName}`)
    })
    return { passed: numPassedTests, failed: numFailedTests, failures: named }
  } catch {
    return { passed: 0, failed: 1, failures: ['the tests left no result'] }
  }
}
