import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { amend, move } from '../../src/core/move.ts'
import { Problem } from '../../src/core/problem.ts'
import type { Store } from '../../src/core/store.ts'
import { task } from '../../src/queue/kind.ts'
import { addTasks, claimTask, endTask, placesOf, QUEUE, stamp } from '../support/directory-queue.ts'
import { filesOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'
import { taskDraft } from '../support/tasks.ts'

async function queue(...titles: string[]): Promise<{ root: string; store: Store; sh: (script: string) => void }> {
  const root = scratch()
  const store = await filesOf(root)
  await addTasks(store, ...titles)
  const sh = (script: string) => void execFileSync('sh', ['-ec', script], { cwd: join(root, QUEUE) })
  return { root, store, sh }
}

const get = async (store: Store, id: string) => (await store.find(task, { where: { id } }))[0]
const told = async (store: Store, id: string) =>
  (await store.events({ of: { kind: task, id } })).map(({ from, to, by, why }) => ({ from, to, by, why }))
const codeOf = async (work: Promise<unknown>) =>
  await work.then(
    () => 'ok',
    (error: unknown) => (error instanceof Problem ? error.code : String(error)),
  )

describe('a script that works on the same folders', () => {
  test('claims and completes with mv and touch, and is told of as another program', async () => {
    const { store, sh } = await queue('a', 'b')
    sh('mv to_execute/req_0001_a in_progress/ && touch in_progress/req_0001_a/req_0001_20260101T000000_started')
    expect((await claimTask(store, 'w'))?.id).toBe('req_0002')
    expect(await claimTask(store, 'w')).toBeUndefined()
    expect(await get(store, 'req_0001')).toMatchObject({ status: 'in_progress', owner: null, leaseUntil: null })
    sh('touch in_progress/req_0001_a/req_0001_20260101T000001_completed && mv in_progress/req_0001_a completed/')
    expect(await get(store, 'req_0001')).toMatchObject({ status: 'completed', finishedAt: '2026-01-01T00:00:01.000Z' })
    const [, claimed, done] = await told(store, 'req_0001')
    expect(claimed).toMatchObject({ from: 'to_execute', to: 'in_progress', by: 'someone' })
    expect(claimed!.why).toMatch(/^moved from to_execute to in_progress by another program, seen 20/)
    expect(done).toMatchObject({ from: 'in_progress', to: 'completed', by: 'someone' })
  })

  test('frees what waited for the task it completes', async () => {
    const { store, sh } = await queue('a')
    await store.insert(task, [taskDraft('b', { fields: { dependsOn: ['req_0001'] } })], stamp())
    sh('mv to_execute/req_0001_a completed/')
    expect((await claimTask(store, 'w'))?.id).toBe('req_0002')
  })

  test('gives back what a worker has: the worker is refused, and the next one gets it', async () => {
    const { root, store, sh } = await queue('a')
    const mine = (await claimTask(store, 'w'))!
    sh('mv in_progress/req_0001_a to_execute/')
    const theirs = (await claimTask(store, 'other'))!
    expect(theirs.token).toBeGreaterThan(mine.token)
    expect(await codeOf(endTask(store, mine, 'completed'))).toBe('lease_lost')
    expect(await codeOf(store.renew(task, mine.id, mine.token, 1000))).toBe('lease_lost')
    expect((await endTask(store, theirs, 'completed')).status).toBe('completed')
    expect(placesOf(root)).toEqual({ req_0001_a: ['completed'] })
  })

  test('moves what a worker has to where the worker would have moved it: both are right', async () => {
    const { store, sh } = await queue('a')
    const mine = (await claimTask(store, 'w'))!
    sh('mv in_progress/req_0001_a completed/')
    expect(await endTask(store, mine, 'completed')).toMatchObject({ status: 'completed', owner: 'w' })
    expect((await told(store, 'req_0001')).filter(({ to }) => to === 'completed')).toHaveLength(1)
  })

  test('adds tasks: they are found, and their numbers are not given again, finished or not', async () => {
    const { root, store, sh } = await queue('a')
    sh(`for place in to_execute/req_0007_g completed/req_0041_x; do
      mkdir $place; sed "s|#0001: a|#$(basename $place | cut -c5-8): theirs|" to_execute/req_0001_a/req_0001_a.md > $place/$(basename $place).md
    done`)
    expect((await store.find(task, { status: ['to_execute'] })).map(({ id }) => id)).toEqual(['req_0001', 'req_0007'])
    expect((await addTasks(store, 'b'))[0]!.id).toBe('req_0042')
    expect(Object.keys(placesOf(root))).toHaveLength(4)
  })

  test('writes a checkpoint: a worker that writes one too takes the next number', async () => {
    const { root, store, sh } = await queue('a')
    const { id, token } = (await claimTask(store, 'w'))!
    let first = true
    await amend(store, task, {
      id,
      token,
      ...stamp('w'),
      fields: now => ({ checkpoints: now.checkpoints + 1 }),
      texts: kept => {
        const number = Object.keys(kept).filter(name => name.startsWith('checkpoint_')).length + 1
        if (first) sh('echo theirs > in_progress/req_0001_a/checkpoint_001.md')
        first = false
        return { [`checkpoint_00${number}.md`]: 'ours\n' }
      },
    })
    expect((await store.texts(task, [id])).get(id)).toMatchObject({
      'checkpoint_001.md': 'theirs\n',
      'checkpoint_002.md': 'ours\n',
    })
    expect(await get(store, id)).toMatchObject({ checkpoints: 2 })
    expect(existsSync(join(root, QUEUE, 'in_progress/req_0001_a/checkpoint_002.md'))).toBe(true)
  })

  test('edits what a task asks for where it lies: it is listed, and given out, as it says now', async () => {
    const { store, sh } = await queue('a', 'b', 'c')
    sh("sleep 0.1; sed -i 's/NORMAL/CRITICAL/' to_execute/req_0003_c/req_0003_c.md")
    expect(await store.find(task, { status: ['to_execute'] })).toMatchObject([
      { id: 'req_0003', priority: 'CRITICAL' },
      { id: 'req_0001' },
      { id: 'req_0002' },
    ])
    expect((await claimTask(store, 'w'))?.id).toBe('req_0003')
    sh("sleep 0.2; sed -i 's/^\\*\\*Posted/**Target Worker:** other\\n&/' to_execute/req_0001_a/req_0001_a.md")
    expect((await claimTask(store, 'w'))?.id).toBe('req_0002')
    expect((await claimTask(store, 'other'))?.id).toBe('req_0001')
    expect(await store.unreadable(task, {})).toEqual([])
  })

  test('deletes a task: it is told of, and its number is not given again', async () => {
    const { store, sh } = await queue('a')
    sh('rm -r to_execute/req_0001_a')
    expect(await get(store, 'req_0001')).toBeUndefined()
    expect((await told(store, 'req_0001')).at(-1)).toMatchObject({ to: 'removed', why: 'its directory is gone' })
    expect((await addTasks(store, 'b'))[0]!.id).toBe('req_0002')
  })

  test('takes the place that a task is moved to: nothing is nested, overwritten or lost', async () => {
    const { root, store } = await queue('a')
    const mine = (await claimTask(store, 'w'))!
    mkdirSync(join(root, QUEUE, 'completed/req_0001_a'))
    expect(await codeOf(endTask(store, mine, 'completed'))).toBe('move_refused')
    expect(readdirSync(join(root, QUEUE, 'completed/req_0001_a'))).toEqual([])
    expect(placesOf(root)['req_0001_a']!.toSorted()).toEqual(['completed', 'in_progress'])
    rmSync(join(root, QUEUE, 'completed/req_0001_a'), { recursive: true })
    expect((await endTask(store, mine, 'completed')).status).toBe('completed')
    expect(placesOf(root)).toEqual({ req_0001_a: ['completed'] })
  })

  test('moves the whole queue away: nothing is taken for deleted', async () => {
    const { root, store } = await queue('a')
    renameSync(join(root, QUEUE), join(root, 'elsewhere'))
    expect(await codeOf(store.find(task, {}))).toBe('unreadable_file')
    renameSync(join(root, 'elsewhere'), join(root, QUEUE))
    expect(await store.find(task, {})).toHaveLength(1)
  })
})

describe('two workspaces on one queue', () => {
  test('see each other’s claims, and what one has the other cannot end', async () => {
    const { root, store } = await queue('a', 'b')
    const other = await filesOf(scratchWith(root))
    const mine = (await claimTask(store, 'w'))!
    expect((await claimTask(other, 'x'))?.id).toBe('req_0002')
    expect(await get(other, mine.id)).toMatchObject({ owner: 'w', token: mine.token, status: 'in_progress' })
    expect(await codeOf(endTask(other, { id: mine.id, token: mine.token + 1 }, 'completed'))).toBe('lease_lost')
    expect(await other.lapsed(task, 10)).toEqual([])
    await endTask(store, mine, 'completed')
    expect(await get(other, mine.id)).toMatchObject({ status: 'completed', owner: 'w' })
  })
})

/** The same queue with a memory of its own, as another program has it. */
function scratchWith(root: string): string {
  rmSync(join(root, '.punchlist.other'), { recursive: true, force: true })
  renameSync(join(root, '.punchlist'), join(root, '.punchlist.other'))
  return root
}

describe('parts', () => {
  test('leave a link in the directory of their task that leads to them wherever that is moved', async () => {
    const { root, store } = await queue('whole')
    await store.insert(task, [taskDraft('part', { fields: { parent: 'req_0001' } })], stamp())
    await endTask(store, (await claimTask(store, 'w'))!, 'completed')
    const link = join(root, QUEUE, 'to_execute/req_0001_whole/req_0001_01_part')
    expect(readlinkSync(link)).toBe('../../completed/req_0001_01_part')
    await endTask(store, (await claimTask(store, 'w'))!, 'completed')
    expect(existsSync(join(root, QUEUE, 'completed/req_0001_whole/req_0001_01_part/req_0001_01_part.md'))).toBe(true)
  })
})

test('what is cancelled lies in a folder of its own, made when it is first needed', async () => {
  const { root, store } = await queue('a')
  expect(existsSync(join(root, QUEUE, 'cancelled'))).toBe(false)
  await move(store, task, {
    id: 'req_0001',
    to: 'cancelled',
    ...stamp(),
    texts: () => ({ 'execution_log.md': 'no\n' }),
  })
  expect(placesOf(root)).toEqual({ req_0001_a: ['cancelled'] })
  writeFileSync(join(root, QUEUE, 'cancelled/.keep'), '')
  expect(await get(store, 'req_0001')).toMatchObject({ status: 'cancelled' })
})
