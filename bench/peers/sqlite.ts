import { DatabaseSync } from 'node:sqlite'
import { peer } from './peer.ts'

interface Plainjob {
  defineQueue(options: { connection: object; logger: object }): Queue
}

interface Queue {
  addMany(type: string, data: unknown[]): void
  getAndMarkJobAsProcessing(type: string): { id: number } | undefined
  markJobAsDone(id: number): void
  close(): void
}

/** plainjob on the same SQLite that we use, with the settings it makes itself: a write-ahead log, synced at checkpoints. */
export async function openPlainjob(path: string): Promise<Queue> {
  const plainjob = await peer<Plainjob>('plainjob')
  const db = new DatabaseSync(path)
  const connection = {
    driver: 'better-sqlite3',
    filename: path,
    pragma: (statement: string) => db.exec(`PRAGMA ${statement}`),
    exec: (sql: string) => db.exec(sql),
    prepare: (sql: string) => db.prepare(sql),
    transaction: transactions(db),
    close: () => db.close(),
  }
  const silent = { error() {}, warn() {}, info() {}, debug() {} }
  return plainjob.defineQueue({ connection, logger: silent })
}

/** As its own driver makes them: prepared once, begun at once where that is asked for. */
function transactions(db: DatabaseSync) {
  const [begin, immediate, commit] = ['BEGIN', 'BEGIN IMMEDIATE', 'COMMIT'].map(sql => db.prepare(sql))
  return (work: (...args: unknown[]) => unknown) => {
    const within =
      (first: typeof begin) =>
      (...args: unknown[]) => {
        first!.run()
        const result = work(...args)
        commit!.run()
        return result
      }
    return Object.assign(within(begin), { immediate: within(immediate) })
  }
}
