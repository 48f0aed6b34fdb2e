import { closeSync, constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { makeNamedFolder } from '../../core/file-entries.ts'
import {
  makeFolder,
  makePrivate,
  openRegular,
  refuseOther,
  refuseOtherThanFolder,
  writeOnce,
} from '../../core/files.ts'
import { Problem } from '../../core/problem.ts'
import { refuseNetwork } from './network.ts'
import { isBusy, problemFor } from './problems.ts'

export type Value = string | number | null
export type Row = Record<string, Value>

export interface ConnectionOptions {
  /** `full`: an answered write survives a power cut. `normal`: the last ones may be lost to it, the file is sound either way. */
  readonly durability?: 'full' | 'normal'
  /** How long to wait for another process that is writing. */
  readonly busyMs?: number
  /** Only to be read, as it lies there: nothing beside it is made or locked, so nobody may be writing it. */
  readonly frozen?: boolean
  /** Called before anything is written: before a new file gets its first page, and in the first transaction. */
  readonly beforeWrite?: () => void
}

/** The oldest SQLite without the fault that could lose a write-ahead log that was reset while being read. */
const OLDEST_SQLITE = [3, 51, 3]

/**
 * One open database file. Writes go through `run` and `all`, never through
 * `get` or an iterator: on a statement with RETURNING those two report the row
 * before the commit has happened, and say nothing when it then fails.
 */
export class Connection {
  readonly path: string
  private readonly db: DatabaseSync
  private readonly statements = new Map<string, StatementSync>()
  private readonly busyMs: number
  private readonly durability: 'full' | 'normal'
  private mayWrite = false
  private beforeWrite: (() => void) | undefined

  constructor(path: string, options: ConnectionOptions = {}) {
    refuseOldSqlite()
    this.path = path
    this.busyMs = options.busyMs ?? 30_000
    // A hook that has nothing to look up does not load it.
    const sqlite = process.getBuiltinModule('node:sqlite')
    this.db = this.guarded(() => {
      const settings = { timeout: 0, enableForeignKeyConstraints: true, allowExtension: false }
      const isThere = path === ':memory:' || refuseForeign(path)
      if (options.frozen) return new sqlite.DatabaseSync(frozen(path), { ...settings, readOnly: true })
      if (!isThere) makeFile(path)
      return new sqlite.DatabaseSync(path, settings)
    })
    this.durability = options.durability ?? 'full'
    this.beforeWrite = options.beforeWrite
    this.patiently(() => this.exec('PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY'))
  }

  /** Kept in the file: only for one that is ours, or is to be. */
  useWriteAheadLog(): void {
    this.beforeWrite?.()
    this.patiently(() => this.exec('PRAGMA journal_mode = WAL'))
  }

  exec(sql: string): void {
    this.guarded(() => this.db.exec(sql))
  }

  /** Every row. Outside a transaction it waits its turn like everything else. */
  all(sql: string, values: readonly Value[] = []): Row[] {
    const rows = () => this.prepared(sql).all(...values) as Row[]
    return this.db.isTransaction ? this.guarded(rows) : this.patiently(rows)
  }

  /** The same, each row as the list of its values: half the cost where the columns are known. */
  lists(sql: string, values: readonly Value[] = []): Value[][] {
    const rows = () => this.prepared(sql, true).all(...values) as unknown as Value[][]
    return this.db.isTransaction ? this.guarded(rows) : this.patiently(rows)
  }

  run(sql: string, values: readonly Value[] = []): void {
    this.guarded(() => this.prepared(sql).run(...values))
  }

  /**
   * Does `work` in one transaction.
   *
   * IMMEDIATE, not deferred: a transaction that reads first and then writes is
   * refused with SQLITE_BUSY the moment another process has written in between,
   * and no time-out applies to that upgrade. Taking the write lock at BEGIN
   * makes rivals wait their turn instead.
   */
  together<T>(work: () => T): T {
    if (!this.mayWrite) this.prepareToWrite()
    this.patiently(() => this.prepared('BEGIN IMMEDIATE').run())
    try {
      this.announceWrite()
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      // A full disk or an I/O error may have rolled back by itself already.
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
      throw error
    }
  }

  /** In the first transaction: the write-ahead log is open by now, and has no frame of ours yet. */
  private announceWrite(): void {
    this.beforeWrite?.()
    this.beforeWrite = undefined
  }

  /** Without waiting for the disk at each commit: for what can be made again. The file is sound all the same. */
  lightly<T>(work: () => T): T {
    if (!this.mayWrite) this.prepareToWrite()
    this.exec('PRAGMA synchronous = NORMAL')
    try {
      return work()
    } finally {
      if (this.durability !== 'normal') this.exec('PRAGMA synchronous = FULL')
    }
  }

  /** Whether a transaction is under way. */
  get isTogether(): boolean {
    return this.db.isTransaction
  }

  close(): void {
    if (this.db.isOpen) this.db.close()
  }

  /**
   * Set explicitly, as defaults differ between builds, and before the first
   * write, as most processes only read and end. None of it is kept in the file.
   */
  private prepareToWrite(): void {
    this.patiently(() =>
      this.exec(`
        PRAGMA synchronous = ${this.durability === 'normal' ? 'NORMAL' : 'FULL'};
        PRAGMA fullfsync = ${process.platform === 'darwin' ? 1 : 0};
        PRAGMA wal_autocheckpoint = 16000;
        PRAGMA journal_size_limit = 67108864;
        PRAGMA cache_size = -32768;`),
    )
    this.mayWrite = true
  }

  /**
   * Tries until nobody else holds the lock. Our own back-off instead of
   * SQLite's busy_timeout, whose growing pauses starve a waiter for good when
   * others keep re-taking the lock: of eight processes one was never served.
   * Whoever has waited long looks more often than a newcomer, not less: with
   * pauses that grew, the slowest of eight on a busy machine got a tenth of what
   * the fastest did, with these a third or more.
   */
  private patiently<T>(work: () => T): T {
    // Looked at only once there is something to wait for: the first look loads a library.
    let began: number | undefined
    for (let attempt = 0; ; attempt++) {
      try {
        return work()
      } catch (error) {
        // A problem is made of it only at the end: to make one takes as long as to look twice.
        if (!isBusy(error)) throw problemFor(error, this.path)
        began ??= performance.now()
        if (performance.now() - began > this.busyMs) throw problemFor(error, this.path)
        pause(0.1 + Math.random() * (attempt < 8 ? 4 : 1))
      }
    }
  }

  private guarded<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw problemFor(error, this.path)
    }
  }

  private prepared(sql: string, lists = false): StatementSync {
    let statement = this.statements.get(sql)
    if (!statement) {
      statement = this.db.prepare(sql)
      if (lists) statement.setReturnArrays(true)
      // Texts differ only in fields, statuses and limits, so they are few; a caller's odd limits are not kept for ever.
      if (this.statements.size >= 256) this.statements.delete(this.statements.keys().next().value!)
      this.statements.set(sql, statement)
    }
    return statement
  }
}

function frozen(path: string): URL {
  // Loaded when it is needed, which is hardly ever.
  const url = process.getBuiltinModule('node:url').pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  return url
}

/** Nobody but its owner may read a list; and git must not take it along. */
function makeFile(path: string): void {
  const folder = dirname(path)
  refuseNetwork(folder)
  const ours = basename(folder) === '.punchlist'
  if (ours) {
    makeNamedFolder(dirname(folder))
    makeFolder(dirname(folder), folder)
    makePrivate(folder)
    writeOnce(join(folder, '.gitignore'), '*\n', 0o644)
  } else makeNamedFolder(folder)
  // SQLite gives -wal and -shm the permissions of the file itself.
  closeSync(openRegular(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT).descriptor)
}

/** SQLite follows links, and waits for pipes: nothing but files is left to it. Whether the file itself is there. */
function refuseForeign(path: string): boolean {
  const folder = dirname(path)
  if (basename(folder) === '.punchlist') refuseOtherThanFolder(folder)
  for (const ending of ['-wal', '-shm', '-journal']) refuseOther(`${path}${ending}`)
  return refuseOther(path) !== undefined
}

function refuseOldSqlite(): void {
  const version = (process.versions['sqlite'] ?? '0').split('.').map(Number)
  const difference = OLDEST_SQLITE.map((wanted, index) => (version[index] ?? 0) - wanted).find(step => step !== 0) ?? 0
  if (difference < 0) {
    throw new Problem(
      'unsupported_runtime',
      `This Node (${process.version}) brings SQLite ${process.versions['sqlite']}; ${OLDEST_SQLITE.join('.')} or newer is needed`,
      'Install the newest Node 24 or later.',
    )
  }
}

const nobody = new Int32Array(new SharedArrayBuffer(4))

function pause(ms: number): void {
  Atomics.wait(nobody, 0, 0, ms)
}
