import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { claim, claimAll, moveAll } from '../src/core/move.ts'
import type { Store } from '../src/core/store.ts'
import { openSqliteStore } from '../src/engines/sqlite/store.ts'
import { task } from '../src/queue/kind.ts'
import { taskDraft } from '../test/support/tasks.ts'
import { median, ms, perSecond, type Row, rates } from './measure.ts'
import { openPlainjob } from './peers/sqlite.ts'

const BATCH = 25
const wanted = { where: { blockers: 0, targetWorker: ['', 'w'] }, to: 'in_progress', by: 'w', leaseMs: 900_000 }
const CLAIMED = { status: 'in_progress', blockers: 0 }

/** The queue on SQLite, with lease, token, events and what waits for what, against one that has none of these. */
export async function queueSqlite(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    return [...(await completions(folder)), await growth(folder), await woken(folder), await fairness(folder)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One by one and by the batch. The peer syncs at checkpoints only, so here we do, too. */
async function completions(folder: string): Promise<Row[]> {
  const [turns, times] = [8, 1000]
  const store = openSqliteStore(join(folder, 'ours.db'), { durability: 'normal' })
  const peer = await openPlainjob(join(folder, 'peer.db'))
  await fill(store, 2 * turns * times)
  for (let n = 0; n < turns; n++)
    peer.addMany(
      't',
      Array.from({ length: times }, (_, i) => ({ i })),
    )
  const [one, batch, theirs] = await rates(
    [
      async count => {
        for (let n = 0; n < count; n++) await complete(store, [(await claim(store, task, { ...wanted, at: now() }))!])
      },
      async count => {
        for (let n = 0; n < count; n += BATCH)
          await complete(store, await claimAll(store, task, { ...wanted, at: now(), limit: BATCH }))
      },
      async count => {
        for (let n = 0; n < count; n++) peer.markJobAsDone(peer.getAndMarkJobAsProcessing('t')!.id)
      },
    ],
    times,
    turns,
  )
  peer.close()
  await store.close()
  const against = `plainjob: ${perSecond(theirs!)}`
  return [
    {
      what: 'queue on SQLite: claim + complete, one by one',
      ours: perSecond(one!),
      against,
      ratio: one! / theirs!,
      bar: 0.75,
      must: 'at least',
    },
    {
      what: `queue on SQLite: the same, ${BATCH} at a time`,
      ours: perSecond(batch!),
      against,
      ratio: batch! / theirs!,
      bar: 2.5,
      must: 'at least',
    },
  ]
}

/** A claim beside a million stored tasks, nearly all of them finished, against one beside a thousand. */
async function growth(folder: string): Promise<Row> {
  const stores = []
  for (const size of [1000, 1_000_000]) {
    const path = join(folder, `growth-${size}.db`)
    const store = openSqliteStore(path, { durability: 'normal' })
    await fill(store, 3000)
    const db = new DatabaseSync(path)
    db.exec(`WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ${size})
      INSERT INTO queue_tasks (id, title, status, token, revision, slug, type, priority, rank, posted, family, number, parent,
        targetWorker, dependsOn, waived, blockers, children, checkpoints, awaiting)
      SELECT 'req_9' || printf('%08d', i), 'task ' || i, iif(i % 100, 'completed', 'error'), 1, 3, 'task', 'Standard', 'NORMAL', 3,
        '2025-01-01T00:00:00.000Z', 900000000 + i, 900000000 + i, '', '', '[]', '{}', 0, 0, 0, 0 FROM n`)
    db.close()
    stores.push({ store, times: [] as number[] })
  }
  for (let n = 0; n < 2500; n++) {
    for (const { store, times } of stores) {
      const began = performance.now()
      await claim(store, task, { ...wanted, at: now() })
      times.push(performance.now() - began)
    }
  }
  const [few, many] = stores.map(({ times }) => median(times))
  await Promise.all(stores.map(({ store }) => store.close()))
  return {
    what: 'queue on SQLite: a claim, 1 million stored tasks',
    ours: ms(many!),
    against: `1 thousand: ${ms(few!)}`,
    ratio: many! / few!,
    bar: 1.5,
    must: 'at most',
  }
}

/** From an added task to its claim by another process that waits for work. */
async function woken(folder: string): Promise<Row> {
  const path = join(folder, 'woken.db')
  const store = openSqliteStore(path, { durability: 'normal' })
  const child = spawn(process.execPath, [join(import.meta.dirname, 'queue-waiter.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  const times: number[] = []
  for (let n = 0; n < 300; n++) {
    await sleep(5)
    const began = process.hrtime.bigint()
    await store.insert(task, [taskDraft(`task ${n}`)], { by: 'bench', at: now() })
    times.push(Number(BigInt(String((await lines.next()).value)) - began) / 1e6)
  }
  child.kill()
  await store.close()
  const ours = median(times)
  return {
    what: 'queue on SQLite: from add to claim in another process',
    ours: ms(ours),
    against: '1 ms',
    ratio: ours,
    bar: 1,
    must: 'at most',
  }
}

/** Eight processes that claim from one file: what the slowest gets, against the fastest. */
async function fairness(folder: string): Promise<Row> {
  const path = join(folder, 'fair.db')
  const store = openSqliteStore(path, { durability: 'normal' })
  await fill(store, 60_000)
  await store.close()
  const racers = Array.from({ length: 8 }, (_, n) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'queue-racer.ts'), path, `w${n}`, '5000'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
  })
  await Promise.all(racers.map(({ lines }) => lines.next()))
  for (const { child } of racers) child.stdin.write('go\n')
  const counts = await Promise.all(racers.map(async ({ lines }) => Number((await lines.next()).value)))
  const [slowest, fastest] = [Math.min(...counts), Math.max(...counts)]
  return {
    what: 'queue on SQLite: 8 processes claim and complete, the slowest',
    ours: `${slowest} in 5 s`,
    against: `the fastest: ${fastest}`,
    ratio: slowest / fastest,
    bar: 0.3,
    must: 'at least',
  }
}

async function complete(store: Store, items: readonly { readonly id: string; readonly token: number }[]) {
  const at = now()
  const moves = items.map(({ id, token }) => ({ id, token, to: 'completed', supposing: CLAIMED, by: 'w', at }))
  const done = await moveAll(store, task, moves)
  if (!done.every(Boolean)) throw new Error('not completed')
}

async function fill(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n += 500) {
    const drafts = Array.from({ length: Math.min(500, count - n) }, (_, i) => taskDraft(`task ${n + i}`))
    await store.insert(task, drafts, { by: 'bench', at: now() })
  }
}

function now(): string {
  return new Date().toISOString()
}
