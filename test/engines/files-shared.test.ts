import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { todo as kind } from '../../src/backlog/kind.ts'
import { move } from '../../src/core/move.ts'
import type { Punchlist } from '../../src/library.ts'
import { punchlist } from '../support/cli.ts'
import { asIfTheClockStoodStill, editByHand, REVIEW, workspaceOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'
import { struckAt } from '../support/strace.ts'

let root: string
let list: Punchlist

beforeEach(async () => {
  root = scratch()
  list = await workspaceOf(root)
})
afterEach(async () => {
  await list.close()
})

const add = async (title: string, more: { status?: 'ready' | 'pending'; body?: string } = {}) => {
  const { todo } = await list.backlog.add({ items: [{ title, source: 'review', status: 'ready', ...more }] })
  return { ...todo, path: join(root, todo.path), key: `work/s1/${todo.id}` }
}
const listed = async () => (await list.backlog.list()).todos
const read = (path: string) => readFileSync(path, 'utf8')
const names = () => readdirSync(join(root, REVIEW)).toSorted()
const at = '2026-01-02T03:04:05.000Z'

describe('what somebody changes by hand', () => {
  test('is seen by the next command and told of: status, title and owner', async () => {
    const { path, key } = await add('Fix it')
    editByHand(path, text =>
      text
        .replace('status: ready', 'status: in_progress')
        .replace('assigned_to: null', 'assigned_to: ann')
        .replace('# Fix it', '# Fix that'),
    )
    expect(await listed()).toMatchObject([{ status: 'in_progress', assigned_to: 'ann', title: 'Fix that' }])
    expect((await list.events({ last: 1 }))[0]).toMatchObject({
      id: key,
      from: 'ready',
      to: 'in_progress',
      by: 'unknown',
      why: 'changed on disk',
    })
    editByHand(path, text => text.replace('assigned_to: ann', 'assigned_to: bob'))
    expect(await list.backlog.show({ id: '1' })).toMatchObject({ todo: { assigned_to: 'bob' } })
  })

  test('is told of as its history tells it', async () => {
    const { path } = await add('Fix it', { status: 'pending' })
    editByHand(
      path,
      text =>
        `${text.replace('status: pending', 'status: ready').trimEnd()}\n| ${at} | pending | ready | ann | looks bad |\n`,
    )
    expect(await listed()).toMatchObject([{ status: 'ready' }])
    const told = { at, from: 'pending', to: 'ready', by: 'ann', why: 'looks bad' }
    expect((await list.events({ last: 1 }))[0]).toMatchObject(told)
    expect((await list.backlog.show({ id: '1' })).todo.history.at(-1)).toEqual(told)
  })

  test('takes a claim away from whoever had it', async () => {
    const { path } = await add('Fix it')
    const { todo } = await list.backlog.claim({ id: '1', as: 'w1' })
    editByHand(path, text => text.replace('assigned_to: w1', 'assigned_to: ann'))
    await expect(list.backlog.complete({ id: '1', reason: 'x', token: todo.token })).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect(read(path)).toContain('status: in_progress')
  })

  test('between our reading and our writing is kept, and so is ours', async () => {
    const { path, key } = await add('Fix it', { status: 'pending', body: 'As found.' })
    let edits = 0
    await move(list.store, kind, {
      id: key,
      to: 'ready',
      by: 'boss',
      at,
      texts: ({ body = '' }) => {
        if (edits++ === 0)
          editByHand(path, text => text.replace('priority: p2', 'priority: p1').replace('As found.', 'Seen.'))
        return { body: `${body}\n\nAnd more.` }
      },
    })
    expect(edits).toBe(2)
    const text = read(path)
    for (const part of ['priority: p1', 'status: ready', 'Seen.', 'And more.', '| ready | boss |']) {
      expect(text).toContain(part)
    }
    expect(text).not.toContain('As found.')
  })

  test('a change decided on what stood there before is refused', async () => {
    const { path, key } = await add('Fix it')
    const [item] = await list.store.find(kind, { where: { id: key } })
    editByHand(path, text => text.replace('# Fix it', '# Fix that'))
    const after = read(path)
    const change = { id: key, revision: item!.revision, from: 'ready', fields: { wave: 1 } }
    await expect(list.store.save(kind, change, { by: 'w', at })).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(read(path)).toBe(after)
  })

  test('is seen even where the file looks as it did: same size, same time', async () => {
    const { path, key } = await add('Fix it', { body: 'As found.' })
    expect(await listed()).toMatchObject([{ priority: 'p2' }])
    for (const priority of ['p1', 'p3', 'p2']) {
      editByHand(path, text => text.replace(/priority: p\d/, `priority: ${priority}`))
      asIfTheClockStoodStill(root, path)
      expect(await listed()).toMatchObject([{ priority }])
      expect(await list.backlog.show({ id: '1' })).toMatchObject({ todo: { priority } })
    }
    editByHand(path, text => text.replace('# Fix it', '# Fix IT'))
    asIfTheClockStoodStill(root, path)
    expect((await list.backlog.claim({ id: '1' })).todo.title).toBe('Fix IT')
    let edits = 0
    await move(list.store, kind, {
      id: key,
      to: 'interrupted',
      fields: { resolution_reason: 'x' },
      by: 'boss',
      at,
      texts: ({ body = '' }) => {
        if (edits++ === 0) {
          editByHand(path, text => text.replace('As found.', 'As I see.'))
          asIfTheClockStoodStill(root, path)
        }
        return { body: `${body}\n\nAnd more.` }
      },
    })
    expect(read(path)).toContain('As I see.')
    expect(read(path)).toContain('And more.')
  })

  test('at any speed: written, looked at, written again with the same length', async () => {
    const { path } = await add('Fix it')
    const text = read(path)
    for (let n = 0; n < 200; n++) {
      const owner = `w${String(n).padStart(3, '0')}`
      writeFileSync(path, text.replace('assigned_to: null', `assigned_to: ${owner}`))
      expect((await list.store.find(kind, {}))[0]!.owner).toBe(owner)
    }
  })

  test('by emptying a file and filling it again takes no claim away when we look in between', async () => {
    const { path } = await add('Fix it')
    const { todo } = await list.backlog.claim({ id: '1', as: 'w1' })
    const writer = spawn(process.execPath, [join(import.meta.dirname, '../support/slow-writer.ts'), path, '60'])
    const gone = new Promise(done => writer.on('close', done))
    let writing = true
    void gone.then(() => (writing = false))
    let looks = 0
    for (; writing; looks++) {
      expect(await listed()).toMatchObject([{ status: 'in_progress', assigned_to: 'w1' }])
      await new Promise(done => setTimeout(done, 1))
    }
    expect(looks).toBeGreaterThan(10)
    expect((await list.backlog.complete({ id: '1', reason: 'x', token: todo.token })).todo.status).toBe('complete')
  })

  test('into nothing ends a claim for good, also when the file is back', async () => {
    const { path, key } = await add('Fix it')
    const { todo } = await list.backlog.claim({ id: '1', as: 'w1' })
    const text = read(path)
    writeFileSync(path, '')
    expect(await listed()).toEqual([])
    expect((await list.events({ last: 1 }))[0]).toMatchObject({ id: key, to: 'removed', by: 'unknown' })
    writeFileSync(path, text.replace('in_progress', 'ready').replace('assigned_to: w1', 'assigned_to: null'))
    const again = await list.backlog.claim({ id: '1', as: 'w2' })
    expect(again.todo.token).toBeGreaterThan(todo.token)
    await expect(list.backlog.complete({ id: '1', reason: 'x', token: todo.token })).rejects.toMatchObject({
      code: 'lease_lost',
    })
  })
})

describe('while we put a new text safely on the disk', () => {
  const slowly = struckAt('fsync', 1, 'delay_enter=1500000')
  const seconds = { 'in place': editByHand, 'by renaming': replaceByHand }

  for (const [how, edit] of Object.entries(seconds)) {
    test(`somebody may write ${how}: both changes are there`, async () => {
      const { path } = await add('Fix it')
      const ran = punchlist(['backlog', 'claim', '1', '--as', 'w1', '--session', 's1'], { cwd: root, through: slowly })
      while (!names().some(name => name.endsWith('.tmp'))) await new Promise(done => setTimeout(done, 5))
      edit(path, text => text.replace('priority: p2', 'priority: p1'))
      const { status, stderr } = await ran
      expect([status, stderr]).toEqual([0, ''])
      const text = read(path)
      for (const part of ['priority: p1', 'status: in_progress', 'assigned_to: w1']) expect(text).toContain(part)
      expect(names()).toHaveLength(1)
    })
  }
})

/** As editors do that write a new file first. */
function replaceByHand(path: string, change: (text: string) => string): void {
  writeFileSync(`${path}~`, change(read(path)))
  renameSync(`${path}~`, path)
}
