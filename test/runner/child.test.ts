import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('where no descriptors are left, an agent and a ward cannot be started, and the run goes on', () => {
  const script = join(import.meta.dirname, '../support/no-descriptors.ts')
  const limited = ['-c', 'ulimit -n 64; exec "$0" "$1"', process.execPath, script]
  expect(JSON.parse(execFileSync('sh', limited, { encoding: 'utf8' }))).toEqual({
    without: { agent: 'spawn true EMFILE', ward: 'spawn true EMFILE' },
    after: { agent: 0, ward: 0 },
  })
})
