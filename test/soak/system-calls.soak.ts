import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { counted, struckAt } from '../support/strace.ts'

interface Listed {
  items: { title: string; status: string; outcome: string | null }[]
}

/** What a verb does to a workspace that has A in progress and B pending. */
const VERBS: Readonly<Record<string, { args: string[]; after: string }>> = {
  add: { args: ['plan', 'add', 'C', 'D'], after: 'A in_progress, B pending, C pending, D pending' },
  insert: { args: ['plan', 'add', 'C', '--order', '1'], after: 'C pending, A in_progress, B pending' },
  start: { args: ['plan', 'start'], after: 'A in_progress, B in_progress' },
  complete: { args: ['plan', 'complete', '1', 'x'], after: 'A completed, B pending' },
}
const BEFORE = 'A in_progress, B pending'
const CALLS = ['pwrite64', 'fdatasync', 'fsync', 'ftruncate', 'unlink', 'fcntl', 'openat', 'mmap']
const ERRORS = ['EIO', 'ENOSPC', 'EACCES', 'EINTR']

async function workspace(): Promise<string> {
  const cwd = scratch()
  await answer(['plan', 'add', 'A', 'B'], { cwd })
  await answer(['plan', 'start', '1'], { cwd })
  return cwd
}

async function state(cwd: string): Promise<string> {
  const { items } = await answer<Listed>(['plan', 'list', '--status', 'all'], { cwd })
  return items.map(({ title, status }) => `${title} ${status}`).join(', ')
}

describe.each(Object.entries(VERBS))('plan: %s', (_, { args, after }) => {
  for (const call of CALLS) {
    test(`killed, or failed, at every ${call}: the old state or the new one, and never an answer that is not kept`, async () => {
      const base = await workspace()
      const probe = scratch()
      cpSync(base, probe, { recursive: true })
      const times = counted(args, call, probe)
      for (const fault of ['signal=KILL', ...ERRORS.map(error => `error=${error}`)]) {
        // Most calls of these two are the runtime's own and come before ours; the last ones are enough.
        const first = call === 'mmap' || call === 'openat' ? Math.max(1, times - 30) : 1
        for (let n = first; n <= times; n++) {
          const cwd = scratch()
          cpSync(base, cwd, { recursive: true })
          const ran = await punchlist(args, { cwd, through: struckAt(call, n, fault) })
          const where = `${call} ${fault} ${n}/${times}: exit ${ran.status} ${ran.stderr.slice(0, 300)}`
          const now = await state(cwd)
          expect([BEFORE, after], where).toContain(now)
          if (ran.status === 0) expect(now, where).toBe(after)
          expect((await punchlist(['doctor', '--fix'], { cwd })).status, where).toBe(0)
          const left = readdirSync(join(cwd, '.punchlist')).toSorted()
          expect(
            left.filter(name => !/^(?:\.gitignore|punchlist\.db(?:-wal|-shm)?)$/.test(name)),
            where,
          ).toEqual([])
        }
      }
    })
  }
})
