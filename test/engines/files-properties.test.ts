import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { todoFile } from '../../src/backlog/file/format.ts'
import { TODO_STATUSES } from '../../src/backlog/record.ts'
import type { Content } from '../../src/core/kind.ts'
import { Problem } from '../../src/core/problem.ts'
import type { Punchlist } from '../../src/library.ts'
import { REVIEW, workspaceOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

/** What somebody does to the text of a file with an editor. */
const edits: Record<string, (text: string, n: number) => string> = {
  status: (text, n) => text.replace(/^status:.*$/m, `status: ${TODO_STATUSES[n % TODO_STATUSES.length]}`),
  owner: (text, n) => text.replace(/^assigned_to:.*$/m, `assigned_to: ${n % 3 ? `ann-${n}` : 'null'}`),
  title: (text, n) => text.replace(/^# .*$/m, `# Title ${n}: a "new" one`),
  priority: (text, n) => text.replace(/^priority:.*$/m, `priority: ${['high', 'p2', 'low   # for now'][n % 3]}`),
  key: (text, n) => text.replace(/^---(?=\r?\n[^-])/, `---\nkey_${n}: "theirs"  `),
  comment: (text, n) => text.replace(/^status:/m, `# remark ${n}\nstatus:`),
  body: (text, n) => text.replace(/^(#{2} Status History)/m, `A line by hand ${n}.  \n\n$1`),
  tail: (text, n) => `${text.trimEnd()}\n\nAfterwards ${n}\n`,
  row: text =>
    text.replace(/(\|---.*\|\r?\n(?:\|.*\r?\n)*)/, '$1| 2026-01-01T00:00:00Z | pending | ready | ann | by hand |\n'),
  windows: text => text.replace(/\r?\n/g, '\r\n'),
  unix: text => text.replaceAll('\r\n', '\n'),
}

const verbs: Record<string, (list: Punchlist, id: string, n: number) => Promise<unknown>> = {
  approve: (list, id) => list.backlog.approve({ id }),
  claim: (list, id, n) => list.backlog.claim({ id, as: `w${n % 3}`, triage: n % 2 === 0 }),
  complete: (list, id, n) => list.backlog.complete({ id, reason: `done ${n}` }),
  dismiss: (list, id, n) => list.backlog.dismiss({ id, as: 'out_of_scope', reason: `not now ${n}` }),
  log: (list, id, n) => list.backlog.log({ id, text: `looked ${n}`, learning: ['## not a heading'] }),
  block: (list, id) => list.backlog.block({ id, on: ['review/002'] }),
  unblock: (list, id, n) => list.backlog.unblock({ id, as: `w${n % 3}` }),
  interrupt: (list, id) => list.backlog.interrupt({ id }),
  resume: (list, id) => list.backlog.resume({ id }),
  release: (list, id) => list.backlog.release({ id }),
  next: list => list.backlog.next({ claim: true }),
  list: list => list.backlog.list(),
}

/** A refusal of the second leaves the first. */
const TWO_MOVES = new Set(['release', 'claim', 'next'])

const step = fc.record({
  what: fc.constantFrom(...Object.keys(edits), ...Object.keys(verbs)),
  n: fc.nat(999),
})

test('whatever people and verbs do to a file in turns, it can be read, and each keeps what the other wrote', async () => {
  let edited = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 40 }), async steps => {
      const root = scratch()
      const list = await workspaceOf(root)
      await list.backlog.add({
        items: ['One', 'Two'].map(title => ({ title, source: 'review', status: 'ready' as const })),
      })
      const name = readdirSync(join(root, REVIEW)).toSorted()[0]!
      const path = join(root, REVIEW, name)
      for (const { what, n } of steps) {
        const before = readFileSync(path, 'utf8')
        const edit = edits[what]
        if (edit) {
          writeFileSync(path, edit(before, n))
          edited++
        } else {
          const answer = await settled(verbs[what]!(list, 'review/001', n))
          const after = readFileSync(path, 'utf8')
          if (answer !== 'done' && !TWO_MOVES.has(what)) expect([answer.code, after]).toEqual([answer.code, before])
          const [old, now] = [contentIn(before, name), contentIn(after, name)]
          expect(now.history.slice(0, old.history.length)).toEqual(old.history)
          expect(now.fields['extra'] ?? null).toEqual(old.fields['extra'] ?? null)
          const ours = (text: string) => text.match(/^(?:key_\d+:.*|# remark .*|A line by hand .*|Afterwards .*)$/gm)
          expect(ours(after)).toEqual(ours(before))
        }
        const content = contentIn(readFileSync(path, 'utf8'), name)
        const { todo } = await list.backlog.show({ id: 'review/001' })
        const { title, status, assigned_to, priority } = content.fields
        expect(todo).toMatchObject({ title, status, assigned_to, priority, body: content.texts['body'] })
      }
      expect(readdirSync(join(root, REVIEW))).toHaveLength(2)
      expect((await list.backlog.list()).warnings).toEqual([])
      await list.close()
    }),
    { numRuns: 15 },
  )
  expect(edited).toBeGreaterThan(200)
})

async function settled(answer: Promise<unknown>): Promise<'done' | Problem> {
  try {
    await answer
    return 'done'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error
  }
}

function contentIn(text: string, name: string): Content {
  const content = todoFile.read(text, name, { workflow: 'work', session: 's1', source: 'review' })
  if ('message' in content) throw new Error(`${content.line}: ${content.message}\n${text}`)
  return content
}
