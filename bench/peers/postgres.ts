import { peer } from './peer.ts'

export interface Boss {
  add(count: number): Promise<void>
  fetchAndComplete(): Promise<void>
  close(): Promise<void>
}

interface PgBoss {
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string): Promise<void>
  insert(name: string, jobs: readonly object[]): Promise<unknown>
  fetch(name: string): Promise<{ readonly id: string }[]>
  complete(name: string, id: string): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
}

/** pg-boss as it comes, but for the upkeep that would disturb a measurement. */
export async function openBoss(url: string, poolSize: number): Promise<Boss> {
  const { PgBoss: Made } = await peer<{ PgBoss: new (options: object) => PgBoss }>('pg-boss')
  const boss = new Made({ connectionString: url, max: poolSize, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue('bench')
  return {
    async add(count) {
      for (let n = 0; n < count; n += 1000) {
        await boss.insert(
          'bench',
          Array.from({ length: Math.min(1000, count - n) }, (_, index) => ({ data: { n: n + index } })),
        )
      }
    },
    async fetchAndComplete() {
      const [job] = await boss.fetch('bench')
      if (!job) throw new Error('pg-boss had nothing to fetch')
      await boss.complete('bench', job.id)
    },
    async close() {
      await boss.stop({ graceful: false })
    },
  }
}

export interface Drained {
  ours: number
  theirs: number
}

export interface Graphile {
  /** Adds so many, lets them be worked off, and tells how many a second that were. */
  drain(count: number): Promise<number>
  /** Keeps a worker waiting; `add` adds one and tells how long it took until it was begun. */
  working(work: (add: () => Promise<number>) => Promise<void>): Promise<void>
  close(): Promise<void>
}

interface Utils {
  addJob(name: string, payload: object): Promise<unknown>
  addJobs(jobs: readonly object[]): Promise<unknown>
  migrate(): Promise<void>
  release(): Promise<void>
}

interface Worker {
  readonly run: (options: object) => Promise<{ stop(): Promise<void> }>
  readonly makeWorkerUtils: (options: object) => Promise<Utils>
  Logger: new (factory: () => () => void) => unknown
}

/** graphile-worker with a local queue of 500 and completion in batches to drain, and as it comes to wait. */
export async function openGraphile(url: string, poolSize: number): Promise<Graphile> {
  const { run, makeWorkerUtils, Logger } = await peer<Worker>('graphile-worker')
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  const running = (settings: object, bench: () => void) =>
    run({
      logger,
      noHandleSignals: true,
      taskList: { bench },
      preset: { worker: { connectionString: url, maxPoolSize: poolSize, logger, ...settings } },
    })
  return {
    async drain(count) {
      for (let n = 0; n < count; n += 1000) {
        await utils.addJobs(
          Array.from({ length: 1000 }, (_, index) => ({ identifier: 'bench', payload: { n: n + index } })),
        )
      }
      let left = count
      const done = Promise.withResolvers<number>()
      const began = performance.now()
      const worker = await running(
        { concurrentJobs: 16, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
        () => {
          if (--left === 0) done.resolve(performance.now())
        },
      )
      await done.promise
      await worker.stop()
      // Until what was done is also deleted: that is what completing is with us.
      return (count * 1000) / (performance.now() - began)
    },
    async working(work) {
      let begun = (_: number) => {}
      const worker = await running({ concurrentJobs: 1 }, () => begun(performance.now()))
      await work(async () => {
        const has = new Promise<number>(done => {
          begun = done
        })
        const began = performance.now()
        await utils.addJob('bench', { n: 1 })
        return (await has) - began
      })
      await worker.stop()
    },
    async close() {
      await utils.release()
    },
  }
}
