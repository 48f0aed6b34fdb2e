import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { claim, claimAll, move, moveAll } from '../src/core/move.ts'
import type { Store } from '../src/core/store.ts'
import { openPostgresStore } from '../src/engines/postgres/store.ts'
import { claimWaiting } from '../src/queue/claiming.ts'
import { task } from '../src/queue/kind.ts'
import { callerOf } from '../test/support/caller.ts'
import { freshSchema, startPostgres } from '../test/support/postgres.ts'
import { keptTask, taskDraft } from '../test/support/tasks.ts'
import { median, ms, perSecond, type Row, rates } from './measure.ts'
import { type Boss, type Drained, type Graphile, openBoss, openGraphile } from './peers/postgres.ts'

const WORKERS = 16
const POOL = 16
const at = '2026-01-02T03:04:05.000Z'
const LEASE_MS = 900_000

/** The queue on PostgreSQL, with lease, token, events and what waits for what, against what others keep there. */
export async function queuePostgres(): Promise<Row[]> {
  const server = await startPostgres()
  try {
    const boss = await openBoss(server.url, POOL)
    const graphile = await openGraphile(server.url, POOL)
    const store = await openPostgresStore(freshSchema(server.url), { poolSize: POOL })
    const rows = [
      await oneByOne(store, boss),
      await drained(store, graphile),
      await started(server.url, graphile),
      await underSnapshot(server.url),
    ]
    await Promise.all([boss.close(), graphile.close(), store.close()])
    return rows
  } finally {
    await server.stop()
  }
}

/** Claimed and completed one by one, by 16 workers. */
async function oneByOne(store: Store, boss: Boss): Promise<Row> {
  const [turns, times] = [6, 1600]
  await fill(store, turns * times)
  await boss.add(turns * times)
  const [ours, theirs] = await rates(
    [
      async count =>
        await shared(WORKERS, count, async n => await complete(store, await next(store, `w${n}`), `w${n}`)),
      async count => await shared(WORKERS, count, async () => await boss.fetchAndComplete()),
    ],
    times,
    turns,
  )
  return {
    what: 'queue on PostgreSQL: claim + complete, 16 workers',
    ours: perSecond(ours!),
    against: `pg-boss: ${perSecond(theirs!)}`,
    ratio: ours! / theirs!,
    bar: 1.3,
    must: 'at least',
  }
}

/** Claimed and completed 500 at a time, by two workers; the peer fetches as many and deletes what is done. */
async function drained(store: Store, graphile: Graphile): Promise<Row> {
  const [turns, times, batch, workers] = [4, 10_000, 500, 2]
  const best: Drained = { ours: 0, theirs: 0 }
  for (let turn = 0; turn < turns; turn++) {
    await fill(store, times)
    const began = performance.now()
    await shared(workers, times / batch, async n => {
      const items = await claimAll(store, task, { ...wanted(`w${n}`), limit: batch })
      if (items.length < batch) throw new Error(`${items.length} of ${batch}`)
      const moves = items.map(({ id, token }) => ({ id, token, to: 'completed', supposing: CLAIMED, by: `w${n}`, at }))
      const done = await moveAll(store, task, moves)
      if (!done.every(Boolean)) throw new Error('not completed')
    })
    best.ours = Math.max(best.ours, (times * 1000) / (performance.now() - began))
    best.theirs = Math.max(best.theirs, await graphile.drain(times))
  }
  return {
    what: 'queue on PostgreSQL: claimed and completed 500 at a time, 2 workers',
    ours: perSecond(best.ours),
    against: `graphile-worker, localQueue: ${perSecond(best.theirs)}`,
    ratio: best.ours / best.theirs,
    bar: 0.8,
    must: 'at least',
  }
}

/** From adding a task until a worker that waits for one has it. */
async function started(url: string, graphile: Graphile): Promise<Row> {
  const address = freshSchema(url)
  const [adder, worker] = [await openPostgresStore(address), await openPostgresStore(address)]
  let begun = (_: number) => {}
  const over = new AbortController()
  const working = (async () => {
    while (!over.signal.aborted) {
      const [item] = await claimWaiting(callerOf(worker), { worker: 'w' }, 1, 1000)
      if (!item) continue
      begun(performance.now())
      await complete(worker, item)
    }
  })()
  const [ours, theirs]: [number[], number[]] = [[], []]
  await graphile.working(async add => {
    for (let n = 0; n < 220; n++) {
      await sleep(5 + Math.random() * 5)
      const has = new Promise<number>(done => {
        begun = done
      })
      const began = performance.now()
      await adder.insert(task, [taskDraft(`task ${n}`)], note)
      const mine = (await has) - began
      await sleep(5 + Math.random() * 5)
      const other = await add()
      // The first ones make connections and plans.
      if (n < 20) continue
      ours.push(mine)
      theirs.push(other)
    }
  })
  over.abort()
  await working
  await Promise.all([adder.close(), worker.close()])
  return {
    what: 'queue on PostgreSQL: from added to claimed by a waiting worker',
    ours: ms(median(ours)),
    against: `graphile-worker: ${ms(median(theirs))}`,
    ratio: median(ours) / median(theirs),
    bar: 1,
    must: 'at most',
  }
}

/** A claim after thousands, while somebody has kept a transaction open since before the first. */
async function underSnapshot(url: string): Promise<Row> {
  const [cycles, sample] = [6000, 400]
  const store = await openPostgresStore(freshSchema(url), { poolSize: POOL })
  await fill(store, cycles + 2 * sample)
  const other = new Client({ connectionString: url })
  await other.connect()
  const timed = async () => {
    const times: number[] = []
    for (let n = 0; n < sample; n++) {
      const began = performance.now()
      const item = await next(store)
      times.push(performance.now() - began)
      await complete(store, item)
    }
    return median(times)
  }
  await shared(4, 200, async () => await complete(store, await next(store)))
  await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class')
  const before = await timed()
  await shared(WORKERS, cycles - 200, async () => await complete(store, await next(store)))
  const after = await timed()
  await other.query('ROLLBACK')
  await other.end()
  await store.close()
  return {
    what: 'queue on PostgreSQL: a claim after 6,000 under an open snapshot',
    ours: ms(after),
    against: `before: ${ms(before)}`,
    ratio: after / before,
    bar: 1.2,
    must: 'at most',
  }
}

const note = { by: 'bench', at }
const CLAIMED = { status: 'in_progress', blockers: 0 } as const

const wanted = (by: string) => ({
  where: { blockers: 0, targetWorker: ['', by] },
  to: 'in_progress',
  by,
  at,
  leaseMs: LEASE_MS,
})

async function next(store: Store, by = 'w') {
  return await claim(store, task, wanted(by))
}

async function complete(store: Store, item: Awaited<ReturnType<typeof next>>, by = 'w') {
  if (!item) throw new Error('there was nothing to claim')
  const { id, token } = item
  return await move(store, task, { id, token, to: 'completed', supposing: CLAIMED, by, at })
}

let filled = 0

async function fill(store: Store, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => `req_${String(filled + n + 1).padStart(4, '0')}`)
  filled += count
  await store.load(
    task,
    ids.map(id => keptTask(id)),
  )
}

async function shared(workers: number, count: number, one: (worker: number) => Promise<unknown>): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      while (left-- > 0) await one(worker)
    }),
  )
}
