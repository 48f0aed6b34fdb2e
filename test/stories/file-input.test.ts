import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

/** Every verb that takes FILE. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  'plan add --items': ['plan', 'add', '--items'],
  'backlog add --items': ['backlog', 'add', '--items'],
  'backlog add --body': ['backlog', 'add', 'T', '--source', 'review', '--body'],
  'queue add --items': ['queue', 'add', '--items'],
  'worklog pr --body': ['worklog', 'pr', '--body'],
  import: ['import'],
}

describe.each(Object.entries(VERBS))('%s', (verb, args) => {
  test('refuses what is no text, each with the reason, and writes nothing', async () => {
    const cwd = scratch()
    await answer(['worklog', 'open', 'alice', '--role', 'test', '--plan', 'p'], { cwd })
    mkdirSync(join(cwd, 'folder'))
    symlinkSync('loop', join(cwd, 'loop'))
    writeFileSync(join(cwd, 'file'), '')
    writeFileSync(join(cwd, 'latin'), Uint8Array.from([0xe9, 0x0a]))
    writeFileSync(join(cwd, 'large'), ' '.repeat(20 * 1024 * 1024))
    const wrong: Record<string, RegExp> = {
      'file/below': /cannot be read: ENOTDIR/,
      absent: /cannot be read: ENOENT/,
      loop: /cannot be read: ELOOP/,
      latin: /is not UTF-8/,
      large: /larger than 16 MiB/,
      '/dev/zero': /larger than 16 MiB/,
    }
    // A folder is imported as one that Claude Code keeps tasks in.
    if (verb !== 'import') wrong['folder'] = /cannot be read: EISDIR/
    for (const [file, message] of Object.entries(wrong))
      expect(await refusal([...args, file], { cwd }), file).toMatchObject({
        status: 2,
        code: 'bad_input',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(/./),
      })
    expect((await punchlist(['status'], { cwd })).stdout).toContain('no plan is open here')
  })
})

test('a byte order mark before JSON is none of it', async () => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'items.json'), '\ufeff{"items":[{"title":"One"}]}')
  await answer(['plan', 'add', '--items', 'items.json'], { cwd })
  const { stdout } = await punchlist(['export'], { cwd })
  const other = scratch()
  writeFileSync(join(other, 'all.json'), `\ufeff${stdout}`)
  await answer(['import', 'all.json'], { cwd: other })
  expect(await answer(['plan', 'list', '--status', 'all'], { cwd: other })).toMatchObject({ items: [{ title: 'One' }] })
  expect(await answer(['import', 'all.json'], { cwd: other })).toMatchObject({ added: 0 })
})

test.each([
  ['queue', '.'],
  ['queue', './x/..'],
  ['work', '.'],
])('paths.%s cannot be the workspace itself, and the refusal names the key and says why', async (key, path) => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ paths: { [key]: path } }))
  for (const args of [
    ['queue', 'list'],
    ['backlog', 'list'],
    ['plan', 'list'],
  ])
    expect(await refusal(args, { cwd })).toMatchObject({
      status: 2,
      code: 'bad_input',
      message: expect.stringContaining(`paths.${key} is the workspace itself: its folders need one of their own in it`),
      hint: expect.stringContaining(`paths.${key}`),
    })
})
