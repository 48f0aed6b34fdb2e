import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Typist as BacklogTypist } from '../support/backlog.ts'
import { scratch } from '../support/scratch.ts'
import { type ForPullRequest, front, TODOS, Typist } from '../support/worklog.ts'

describe('files that are no worklog', () => {
  /** A session with one worker that can be read, and something beside. */
  async function beside(put: (typist: Typist, folder: string) => void) {
    const typist = new Typist(scratch())
    await typist.opened('alice')
    put(typist, join(typist.cwd, TODOS))
    return { typist, summary: await typist.summary() }
  }
  const outside = () => {
    const file = join(scratch(), 'outside.md')
    writeFileSync(file, front('outside'))
    return file
  }
  const STRANGE: [what: string, name: string, put: (path: string) => void][] = [
    ['one without a frontmatter', 'broken.md', path => writeFileSync(path, 'words\n')],
    ['one whose frontmatter is never closed', 'open.md', path => writeFileSync(path, '---\nworker: open\n')],
    [
      'one that is not UTF-8',
      'latin.md',
      path => writeFileSync(path, Buffer.from(`${front('latin')}caf\xe9\n`, 'latin1')),
    ],
    ['one of 2 MiB', 'huge.md', path => writeFileSync(path, front('huge') + 'words and more\n'.repeat(150_000))],
    ['one with a NUL in it', 'zero.md', path => writeFileSync(path, `${front('zero')}\0\n`)],
    ['one with a name that no worker can have', 'a b.md', path => writeFileSync(path, front('a b'))],
    ['one with a reserved name', '_notes.md', path => writeFileSync(path, front('_notes'))],
    ['a symbolic link', 'link.md', path => symlinkSync(outside(), path)],
    ['a folder', 'folder.md', path => mkdirSync(path)],
    ['a pipe', 'pipe.md', path => execFileSync('mkfifo', [path])],
  ]

  test('are named in the list, the summary and the pull request, each of them, and left alone', async () => {
    const { typist, summary } = await beside((_, folder) => {
      for (const [, name, put] of STRANGE) put(join(folder, name))
    })
    const looks = () =>
      STRANGE.map(([, name]) => {
        const { ino, size, mtimeMs } = statSync(join(typist.cwd, TODOS, name))
        return [name, ino, size, mtimeMs]
      })
    const before = looks()
    expect(summary).toMatchObject({ workers: 1, path: `${TODOS}/_summary.md` })
    const { warnings } = summary
    const named = STRANGE.map(([, name]) => `${TODOS}/${name}`).toSorted()
    expect(warnings.map(({ file }) => file).toSorted()).toEqual(named)
    expect((await typist.list()).warnings).toEqual(warnings)
    const pr = await typist.run<ForPullRequest>('pr')
    expect(pr.warnings).toEqual(warnings)
    const listed = await typist.seen('list')
    expect(listed.status).toBe(0)
    const told = typist.text('_summary.md')!.split('## Not Included')[1]!
    const known = pr.text.split('### Known Issues')[1]!
    for (const [what, name] of STRANGE) {
      const shown = name.replace('_', '\\_')
      expect(told, what).toContain(shown)
      expect(known, what).toContain(shown)
      expect(listed.stderr, what).toContain(`warning: ${TODOS}/${name}:`)
      const worker = name.replace('.md', '')
      if (!/^[a-z]+$/.test(worker)) continue
      const refused = await typist.refused('task', worker, '1', 'x')
      expect([refused.status, refused.code], what).toEqual([7, 'unreadable_file'])
      expect(refused.message, what).toContain(name)
      const opened = await typist.refused('open', worker, '--role', 'test', '--plan', 'p.md')
      expect(opened.status, what).toBe(7)
    }
    expect(looks()).toEqual(before)
  })

  test('a summary that somebody made a link to elsewhere is not written through', async () => {
    const target = outside()
    const before = readFileSync(target, 'utf8')
    const { typist, summary } = await beside((_, folder) => symlinkSync(target, join(folder, '_summary.md')))
    expect(readFileSync(target, 'utf8')).toBe(before)
    if (summary.path === null) expect(summary.warnings).toMatchObject([{ file: `${TODOS}/_summary.md` }])
    else expect(typist.text('_summary.md')).toMatch(/^---\ngenerated: /)
    const { text } = await typist.run<ForPullRequest>('pr')
    expect(text).not.toContain('outside')
  })

  test('todos of the backlog in the folders below are neither counted nor touched', async () => {
    const typist = new Typist(scratch())
    const backlog = new BacklogTypist(typist.cwd, { PUNCHLIST_SESSION: 's1' })
    const { todo } = await backlog.add({ title: 'Leak', body: '## Task #1: not one\n\n- [ ] no box' })
    expect(todo.path).toMatch(new RegExp(`^${TODOS}/review/`))
    const before = readFileSync(join(typist.cwd, todo.path), 'utf8')
    await typist.opened('review')
    await typist.run('task', 'review', '1', 'Look')
    expect(await typist.summary()).toMatchObject({ workers: 1, total_tasks: 1, total_subtasks: 0, warnings: [] })
    await typist.run('sweep')
    expect(readFileSync(join(typist.cwd, todo.path), 'utf8')).toBe(before)
    expect((await backlog.list()).todos).toMatchObject([{ id: 'review/001', status: 'pending' }])
    expect(existsSync(join(typist.cwd, TODOS, 'review.md'))).toBe(true)
  })

  test('a folder of a session that leads out of the workspace is not followed', async () => {
    const cwd = scratch()
    const elsewhere = scratch()
    mkdirSync(join(elsewhere, 'todos'))
    writeFileSync(join(elsewhere, 'todos/eve.md'), front('eve'))
    mkdirSync(join(cwd, 'tmp/work'), { recursive: true })
    symlinkSync(elsewhere, join(cwd, 'tmp/work/s1'))
    const typist = new Typist(cwd)
    expect((await typist.list()).worklogs).toEqual([])
    const { path, workers } = await typist.summary()
    expect([path, workers]).toEqual([null, 0])
    const { status } = await typist.seen('open', 'alice', '--role', 'test', '--plan', 'p.md')
    expect([0, 2]).toContain(status)
    expect(readFileSync(join(elsewhere, 'todos/eve.md'), 'utf8')).toBe(front('eve'))
    expect(existsSync(join(elsewhere, 'todos/alice.md'))).toBe(false)
    expect(existsSync(join(elsewhere, 'todos/_summary.md'))).toBe(false)
  })
})
