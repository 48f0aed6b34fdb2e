import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unifiedDiff } from '../../src/hosts/install/diff.ts'
import type { Change, Plan } from '../../src/hosts/install/planning.ts'
import { carryOut } from '../../src/hosts/install/writing.ts'
import { scratch } from '../support/scratch.ts'

function planOf(changes: readonly Omit<Change, 'mode' | 'theirs'>[]): Plan {
  const folder = scratch()
  const originals = { folder: join(folder, 'originals'), root: folder }
  return {
    changes: changes.map(change => ({ ...change, theirs: change.before, mode: 0o666 })),
    places: [],
    originals,
    notes: [],
  }
}

test('a file that another program writes meanwhile is planned anew, and nothing of it is lost', () => {
  const root = scratch()
  const file = join(root, 'AGENTS.md')
  writeFileSync(file, 'a\n')
  let rival = true
  const plan = (): Plan => {
    const before = readFileSync(file, 'utf8')
    if (rival) writeFileSync(file, 'a\nb\n')
    rival = false
    return planOf([{ root, file, before, after: `${before}ours\n` }])
  }
  carryOut(plan)
  expect(readFileSync(file, 'utf8')).toBe('a\nb\nours\n')
  expect(readdirSync(root)).toEqual(['AGENTS.md'])
})

test('a file that appears meanwhile is not overwritten', () => {
  const root = scratch()
  const file = join(root, 'new.json')
  let rival = true
  const plan = (): Plan => {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
    if (rival) writeFileSync(file, 'theirs')
    rival = false
    return planOf(before === undefined ? [{ root, file, before, after: 'ours' }] : [])
  }
  carryOut(plan)
  expect(readFileSync(file, 'utf8')).toBe('theirs')
})

test('what is prepared by somebody else who is still at it is waited for, and refused if it takes too long', () => {
  const root = scratch()
  const file = join(root, 'a.json')
  const held = join(root, '.a.json.punchlist-new')
  writeFileSync(held, '')
  let asked = 0
  const plan = (): Plan => {
    // The other one is done when we have asked three times.
    if (++asked === 3) writeFileSync(file, 'theirs')
    return planOf(existsSync(file) ? [] : [{ root, file, before: undefined, after: 'ours' }])
  }
  carryOut(plan)
  expect(asked).toBe(3)
  expect(readFileSync(file, 'utf8')).toBe('theirs')
})

test('a diff is one that other programs can apply', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join('\n')
  const after = `${['a', 'x', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'y'].join('\n')}\n`
  expect(unifiedDiff('file', before, after)).toBe(`--- file
+++ file
@@ -1,5 +1,5 @@
 a
-b
+x
 c
 d
 e
@@ -7,4 +7,4 @@
 g
 h
 i
-j
\\ No newline at end of file
+y`)
  expect(unifiedDiff('file', undefined, 'a\n')).toBe('--- /dev/null\n+++ file\n@@ -0,0 +1,1 @@\n+a')
  expect(unifiedDiff('file', 'a\n', undefined)).toBe('--- file\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a')
  expect(unifiedDiff('file', 'a', 'a')).toBe('')
})
