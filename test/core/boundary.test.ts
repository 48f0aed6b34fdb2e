import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { boundOf, isInGit, isInside, leaves, staysInside } from '../../src/core/boundary.ts'
import { scratch } from '../support/scratch.ts'

function stage() {
  const top = scratch()
  const [root, outside] = [join(top, 'root'), join(top, 'outside')]
  for (const folder of ['a/b', '.git/hooks', 'vendored/.git']) mkdirSync(join(root, folder), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(outside, 'file'), '')
  const links = {
    near: 'a',
    out: outside,
    'out-by-two': 'out',
    up: '..',
    itself: '.',
    git: '.git',
    hooks: '.git/hooks',
    vendor: 'vendored/.git',
    none: join(outside, 'none'),
    loop: 'loop',
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name))
  return { top, root, outside }
}

const INSIDE = ['.', 'a', 'a/b', 'near', 'near/b', 'itself', 'itself/a']
const BEYOND = [
  'out',
  'out/file',
  'out-by-two',
  'up',
  '..',
  '.git',
  'git',
  'hooks',
  'itself/.git',
  'vendored/.git',
  'vendor',
]

test('what is there lies inside, links followed, or it does not', () => {
  const { root } = stage()
  for (const path of INSIDE) expect(isInside(root, join(root, path)), path).toBe(true)
  for (const path of BEYOND) expect(isInside(root, join(root, path)), path).toBe(false)
  for (const path of ['none', 'loop', 'missing'])
    expect(() => isInside(root, join(root, path)), path).toThrow(/ENOENT|ELOOP/)
})

test('what is not there yet is judged by what there is of it', () => {
  const { root } = stage()
  for (const path of INSIDE) expect(staysInside(root, join(root, path, 'new/and/deep')), path).toBe(true)
  for (const path of [...BEYOND, 'none', 'loop']) expect(staysInside(root, join(root, path, 'new')), path).toBe(false)
  expect(staysInside(join(root, 'new'), join(root, 'new'))).toBe(true)
})

test('a root that is reached by a link is the same root', () => {
  const { top, root } = stage()
  symlinkSync('root', join(top, 'alias'))
  expect(isInside(join(top, 'alias'), join(root, 'a'))).toBe(true)
  expect(isInside(root, join(top, 'alias/a'))).toBe(true)
  expect(realpathSync(join(top, 'alias'))).toBe(realpathSync(root))
})

test('a folder outside is its own boundary', () => {
  expect([boundOf('/w', 'tmp'), boundOf('/w', '../x'), boundOf('/w', '..x')]).toEqual(['/w', '/x', '/w'])
  expect([leaves('..'), leaves('../a'), leaves('..a'), leaves(''), leaves('/a')]).toEqual([
    true,
    true,
    false,
    false,
    true,
  ])
  expect([isInGit('a/.git/b'), isInGit('.GIT'), isInGit('a/.gitignore'), isInGit('')]).toEqual([
    true,
    true,
    false,
    false,
  ])
})
