import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import { entriesIn } from '../../src/engines/directories/reading.ts'
import { task } from '../../src/queue/kind.ts'
import { addTasks, claimTask, endTask, QUEUE, stamp } from '../support/directory-queue.ts'
import { filesOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'

/** What can lie among the tasks, and what is said of it. */
const STRANGE: Readonly<Record<string, { make: (path: string) => void; said: RegExp }>> = {
  req_0101_without_file: { make: path => mkdirSync(path), said: /has no req_0101_without_file\.md/ },
  no_task_at_all: { make: path => mkdirSync(path), said: /must be named req_/ },
  req_0102_file: { make: path => writeFileSync(path, 'x'), said: /is not a directory/ },
  req_0103_link: { make: path => symlinkSync('/etc', path), said: /is a symbolic link/ },
  req_0104_pipe: {
    make: path => {
      mkdirSync(path)
      execFileSync('mkfifo', [join(path, 'req_0104_pipe.md')])
    },
    said: /is not a regular file/,
  },
  req_0105_linked: {
    make: path => {
      mkdirSync(path)
      symlinkSync('/etc/passwd', join(path, 'req_0105_linked.md'))
    },
    said: /is a symbolic link/,
  },
  req_0106_large: {
    make: path => written(path, 'req_0106_large', 'x'.repeat(1024 * 1024 + 1)),
    said: /larger than 1024 KiB/,
  },
  req_0107_bytes: {
    make: path => written(path, 'req_0107_bytes', Buffer.from([0x23, 0x0a, 0xff, 0xfe])),
    said: /is not UTF-8/,
  },
  req_0108_other: {
    make: path => written(path, 'req_0108_other', '# Request #0001: Other\n'),
    said: /req_0108_other\.md: /,
  },
  [`req_0109_${'long'.repeat(50)}`]: { make: path => mkdirSync(path), said: /name of more than 180 bytes/ },
}

function written(path: string, name: string, text: string | Buffer): void {
  mkdirSync(path)
  writeFileSync(join(path, `${name}.md`), text)
}

test('what cannot be read as a task is named, left as it is, and keeps nobody from the others', async () => {
  const root = scratch()
  const store = await filesOf(root)
  await addTasks(store, 'a')
  const folder = join(root, QUEUE, 'to_execute')
  for (const [name, { make }] of Object.entries(STRANGE)) make(join(folder, name))
  expect((await store.find(task, {})).map(({ id }) => id)).toEqual(['req_0001'])
  const said = await store.unreadable(task, {})
  for (const [name, one] of Object.entries(STRANGE)) {
    expect(said.find(({ file }) => file === `${QUEUE}/to_execute/${name}`)?.message, name).toMatch(one.said)
  }
  expect(said).toHaveLength(Object.keys(STRANGE).length)
  await endTask(store, (await claimTask(store, 'w'))!, 'completed')
  expect(await claimTask(store, 'w')).toBeUndefined()
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(STRANGE).toSorted())
  const directories = (await store.inspect()).find(({ check }) => check === 'task directories')
  expect(directories).toMatchObject({ ok: false })
  await store.recover(task, stamp())
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(STRANGE).toSorted())
})

test('a task that becomes readable is one from then on', async () => {
  const root = scratch()
  const store = await filesOf(root)
  await addTasks(store, 'a')
  const path = join(root, QUEUE, 'staged/req_0009_late')
  mkdirSync(path)
  expect(await store.find(task, {})).toHaveLength(1)
  expect(await store.unreadable(task, {})).toHaveLength(1)
  execFileSync('sh', ['-c', `sed 's/#0001: a/#0009: late/' ../to_execute/*/*.md > req_0009_late/req_0009_late.md`], {
    cwd: join(path, '..'),
  })
  expect(await store.find(task, {})).toHaveLength(2)
  expect(await store.unreadable(task, {})).toEqual([])
})

test('flags that are directories or not empty do not count', async () => {
  const root = scratch()
  const store = await filesOf(root)
  await addTasks(store, 'a')
  const { id } = (await claimTask(store, 'w'))!
  const path = join(root, QUEUE, 'in_progress/req_0001_a')
  mkdirSync(join(path, 'req_0001_20260101T000000_completed'))
  writeFileSync(join(path, 'req_0001_20260101T000001_completed'), 'x')
  await store.recover(task, stamp())
  expect((await store.find(task, { where: { id } }))[0]).toMatchObject({ status: 'in_progress', owner: 'w' })
})

test('a folder that leads out of the workspace is refused, and nothing is read or written there', async () => {
  const root = scratch()
  const outside = scratch()
  const store = await filesOf(root)
  await addTasks(store, 'a')
  rmSync(join(root, QUEUE, 'staged'), { recursive: true })
  symlinkSync(outside, join(root, QUEUE, 'staged'))
  const refused = (await store.find(task, {}).catch((error: unknown) => error)) as Problem
  expect(refused).toBeInstanceOf(Problem)
  expect(refused.message).toContain('leads out of the workspace')
  const again = await filesOf(root)
  await expect(addTasks(again, 'b')).rejects.toThrow('leads out of the workspace')
  expect(readdirSync(outside)).toEqual([])
})

test('texts come with everything a worker left, bytes that are no text among them, and go back where they were', async () => {
  const root = scratch()
  const store = await filesOf(root)
  await addTasks(store, 'a')
  const item = (await claimTask(store, 'w'))!
  const path = join(root, QUEUE, 'in_progress/req_0001_a')
  mkdirSync(join(path, 'artifacts'))
  writeFileSync(join(path, 'artifacts/out.bin'), Buffer.from([0, 255, 1]))
  writeFileSync(join(path, 'notes.txt'), 'plain\n')
  symlinkSync('/etc/passwd', join(path, 'artifacts/secret'))
  const all = (await store.texts(task, [item.id], true)).get(item.id)!
  expect(all).toMatchObject({
    'artifacts/out.bin': 'data:application/octet-stream;base64,AP8B',
    'notes.txt': 'plain\n',
  })
  expect(Object.keys(all).filter(name => name.includes('secret'))).toEqual([])
  expect(Object.keys((await store.texts(task, [item.id])).get(item.id)!)).toEqual(['task.md'])
  const copy = scratch()
  const other = await filesOf(copy)
  const { id, token, revision: _, leaseUntil: __, ...fields } = { ...item }
  await other.load(task, [
    { id, token, fields, texts: all, history: [{ ...stamp('w'), from: null, to: 'in_progress', why: null }] },
  ])
  expect((await other.texts(task, [id], true)).get(id)).toEqual(all)
  expect((await other.find(task, {}))[0]).toMatchObject({ id, token, owner: 'w', status: 'in_progress' })
  expect((await endTask(other, item, 'completed')).status).toBe('completed')
  expect(existsSync(join(copy, QUEUE, 'completed/req_0001_a/artifacts/out.bin'))).toBe(true)
})

test('a folder on another file system is refused with the reason, before anything is moved', () => {
  const root = scratch()
  mkdirSync(join(root, QUEUE, 'completed'), { recursive: true })
  const program = join(import.meta.dirname, '../../bin/punchlist.js')
  const add = `"$2" "$3" queue add A --description d --expect e --root "$1" --json`
  const script = `mount -t tmpfs tmpfs "$1/${QUEUE}/completed" && ${add}`
  const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
  const args = [...namespace, 'sh', '-c', script, 'sh', root, process.execPath, program]
  const { status, stderr } = spawnSync('unshare', args, { encoding: 'utf8' })
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: 'bad_input', message: expect.stringMatching(/completed: not on the same file system as/) },
  })
  expect(status).toBe(2)
  expect(readdirSync(join(root, QUEUE, 'to_execute'))).toEqual([])
})

test('what came with somebody else’s files in our own folder leads nowhere', async () => {
  const root = scratch()
  const store = await filesOf(root)
  const [item] = await addTasks(store, 'a')
  const claimed = (await claimTask(store, 'w'))!
  const own = join(root, QUEUE, '.punchlist')
  const report = {
    id: item!.id,
    name: '../../req_0001_a',
    token: claimed.token,
    from: 'in_progress',
    to: '../..',
    by: 'x',
    at: '',
    fields: {},
    texts: { 'x.md': 'x' },
    worker: { pid: 1, start: '0', boot: '0' },
  }
  for (const [name, text] of [
    ['req_0001~1~..', JSON.stringify(report)],
    [
      'req_0005~1~completed',
      JSON.stringify({ ...report, id: 'req_0005', token: 1, to: 'completed', name: '../../kept' }),
    ],
    ['req_0001~2~completed', '{'],
    ['req_0001~3~completed', '[]'],
  ] as const)
    writeFileSync(join(own, 'reports', name), text)
  mkdirSync(join(own, 'private', 'req_0001_b~..~1.0.0.1'))
  mkdirSync(join(own, 'tasks', 'req_0002'))
  writeFileSync(join(own, 'tasks', 'req_0002', 'lease.1'), '1\n2\n3\nnot quoted\n1\n')
  // As if it had been decided, about something that is none of the queue's.
  mkdirSync(join(own, 'tasks', 'req_0005'))
  writeFileSync(join(own, 'tasks', 'req_0005', 'completed.1'), '')
  mkdirSync(join(root, 'kept'))
  const before = readdirSync(root).toSorted()
  await store.recover(task, stamp())
  expect(readdirSync(join(root, 'kept'))).toEqual([])
  expect(await store.find(task, { status: ['in_progress'] })).toMatchObject([{ id: item!.id, owner: 'w' }])
  expect(readdirSync(root).toSorted()).toEqual(before)
  expect(readdirSync(join(root, QUEUE)).toSorted()).not.toContain('req_0001_b')
  await endTask(store, claimed, 'completed')
})

test('a directory that is moved away while it is looked at is gone, and never half empty', async () => {
  const root = scratch()
  const here = join(root, 'here')
  mkdirSync(here)
  for (let n = 0; n < 20; n++) writeFileSync(join(here, `file ${n}`), '')
  const mover = spawn(
    process.execPath,
    [
      '-e',
      'const { renameSync } = require("node:fs"); for (;;) { renameSync("here", "there"); renameSync("there", "here") }',
    ],
    { cwd: root, stdio: 'inherit' },
  )
  try {
    await once(mover, 'spawn')
    const seen = new Set<number | undefined>()
    for (let n = 0; n < 3000 || seen.size < 2; n++) seen.add(entriesIn(here)?.length)
    expect(seen).toEqual(new Set([20, undefined]))
  } finally {
    mover.kill('SIGKILL')
  }
})

test('a name that is no UTF-8 does not keep anybody looking', () => {
  const root = scratch()
  writeFileSync(join(root, 'plain'), '')
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), '')
  expect(entriesIn(root)?.map(({ name }) => name)).toEqual(['plain'])
})
