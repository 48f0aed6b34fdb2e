import { closeSync, openSync } from 'node:fs'
import { runCheck } from '../../src/core/check.ts'
import { Child } from '../../src/runner/child.ts'

// Starts an agent and a ward while the process may open no more files, and again when it may.
const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // None are left.
}
const without = await both()
for (const descriptor of taken) closeSync(descriptor)
process.stdout.write(JSON.stringify({ without, after: await both() }))

async function both() {
  const starting = { cwd: '/', env: process.env, output: '/nowhere/output', onLine: () => undefined }
  const agent = await new Child({ program: 'true', args: [] }, starting).ended
  const ward = await runCheck(['true'], { cwd: '/', now: () => new Date() })
  return { agent: agent.error ?? agent.exit, ward: ward.exit ?? ward.output }
}
