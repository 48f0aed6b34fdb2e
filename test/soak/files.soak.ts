import { cpSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { answer, punchlist } from '../support/cli.ts'
import { outcomeOf, READY, VERBS } from '../support/killing.ts'
import { scratch } from '../support/scratch.ts'
import { counted, struckAt } from '../support/strace.ts'

const CALLS = [
  'write',
  'pwrite64',
  'fsync',
  'fdatasync',
  'link',
  'rename',
  'unlink',
  'mkdir',
  'fchmod',
  'openat',
  'fcntl',
]
const FAULTS = ['signal=KILL', 'error=EIO', 'error=ENOSPC', 'error=EACCES', 'error=EMFILE', 'error=EINTR']

describe.each(Object.entries(VERBS))('backlog %s on files', (verb, { before, args }) => {
  for (const call of CALLS) {
    test(`killed, or failed, at every ${call}: an old file or a new one, and work goes on`, async () => {
      const base = scratch()
      for (const step of [READY, ...before]) await answer(step, { cwd: base })
      const probe = scratch()
      cpSync(base, probe, { recursive: true })
      const times = counted(args, call, probe)
      for (const fault of FAULTS) {
        // Most calls of these are the runtime's own and come before ours; the last ones are enough.
        const first = ['openat', 'fcntl', 'write'].includes(call) ? Math.max(1, times - 30) : 1
        for (let n = first; n <= times; n++) {
          const cwd = scratch()
          cpSync(base, cwd, { recursive: true })
          const ran = await punchlist(args, { cwd, through: struckAt(call, n, fault) })
          const where = `${call} ${fault} ${n}/${times}: exit ${ran.status} ${ran.stderr.slice(0, 300)}`
          expect(await outcomeOf(verb, cwd, base, ran), where).toEqual([])
        }
      }
    })
  }
})
