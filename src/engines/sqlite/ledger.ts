import type { Note } from '../../core/event.ts'
import { columnsOf, listKey, numberOf, stored } from '../../core/keeping.ts'
import type { Item, Kind } from '../../core/kind.ts'
import type { Discovery, Ledger, Seen, Stamps } from '../../core/ledger.ts'
import type { Fields } from '../../core/lifecycle.ts'
import type { Change, Claim, Kept, Query } from '../../core/store.ts'
import type { Connection } from './connection.ts'
import { keepNumber } from './lists.ts'
import { insertMany } from './many.ts'
import type { Rows } from './rows.ts'
import { unwire, wire } from './waits.ts'

/** The ledger of an engine that keeps items in files: rows that mirror what stands there, beside those of other kinds. */
export class SqliteLedger implements Ledger {
  private readonly connection: Connection
  private readonly rows: Rows

  constructor(connection: Connection, rows: Rows) {
    this.connection = connection
    this.rows = rows
  }

  together<T>(work: () => T, derived = false): T {
    return derived ? this.connection.lightly(() => this.connection.together(work)) : this.connection.together(work)
  }

  version(): number {
    return Number(this.connection.lists('PRAGMA data_version')[0]![0])
  }

  find<T extends Item>(kind: Kind<T>, query: Query): T[] {
    return this.rows.find(mirrorOf(kind), query)
  }

  first<T extends Item>(kind: Kind<T>, query: Query): T[] {
    return this.rows.first(mirrorOf(kind), query)
  }

  count(kind: Kind, query: Pick<Query, 'where' | 'status'>): Record<string, number> {
    return this.rows.count(mirrorOf(kind), query)
  }

  names(kind: Kind, field: string, where: Readonly<Record<string, string>>): string[] {
    return this.rows.names(mirrorOf(kind), field, where)
  }

  save<T extends Item>(kind: Kind<T>, { texts: _, ...change }: Change, note: Note): T {
    return this.rows.save(mirrorOf(kind), change, note)
  }

  take<T extends Item>(kind: Kind<T>, query: Query, claim: Claim, note: Note): T | undefined {
    return this.rows.take(mirrorOf(kind), query, claim, note)
  }

  renew<T extends Item>(kind: Kind<T>, id: string, token: number, leaseMs: number): T {
    return this.rows.renew(mirrorOf(kind), id, token, leaseMs)
  }

  lapsed<T extends Item>(kind: Kind<T>, limit: number): T[] {
    return this.rows.lapsed(mirrorOf(kind), limit)
  }

  load(kind: Kind, items: readonly Kept[]): void {
    this.rows.load(
      mirrorOf(kind),
      items.map(item => ({ ...item, texts: {} })),
    )
  }

  hasHeardOf(kind: Kind): boolean {
    return this.connection.lists('SELECT 1 FROM events WHERE kind = ? LIMIT 1', [kind.name]).length > 0
  }

  discover(kind: Kind, found: readonly Discovery[], unheard = false): void {
    const mirror = mirrorOf(kind)
    const columns = columnsOf(mirror)
    const counts = ({ id, fields }: Discovery) => {
      const known = unheard ? COUNTED : this.countsOf(kind, id)
      return { ...known, token: Number(fields['token'] ?? known.token) }
    }
    // What is empty in all of them is left out: a first look takes in thousands, and half of a todo is empty.
    const used = columns.filter(name => !OURS.has(name) && found.some(({ fields }) => (fields[name] ?? null) !== null))
    const names = ['id', 'token', 'revision', ...used]
    insertMany(
      this.connection,
      `INSERT INTO ${mirror.table} (${names.join(', ')})`,
      names.length,
      found,
      (one, put) => {
        const { id, fields } = one
        const { token, revision } = counts(one)
        put(id)
        put(token)
        put(revision)
        for (const name of used) {
          const value = fields[name]
          // Most of a list's fields are empty lists, and to write one out costs more than all the rest of it.
          put(Array.isArray(value) && value.length === 0 ? '[]' : stored(mirror, name, value))
        }
      },
    )
    const into = 'INSERT INTO events (at, kind, id, title, "from", "to", by, why, revision, token)'
    insertMany(this.connection, into, 10, found, (one, put) => {
      const { id, fields, note } = one
      const { title, status } = fields
      const { revision, token } = counts(one)
      for (const value of [note.at, kind.name, id, String(title), null, String(status)]) put(value)
      for (const value of [note.by, note.why ?? null, revision, token]) put(value)
    })
    for (const mine of Object.values(Object.groupBy(found, ({ fields }) => listKey(kind, fields)))) {
      const highest = mine!.reduce((most, { fields }) => Math.max(most, numberOf(kind, fields)), 0)
      keepNumber(this.connection, kind, mine![0]!.fields, highest)
    }
    for (const one of found) {
      if (one.leaseMs !== undefined) this.rows.renew(mirror, one.id, counts(one).token, one.leaseMs)
    }
    this.remember(
      kind,
      found.map(({ file }) => file),
    )
    // Also what is waited for by others that were found before it.
    if (kind.waits)
      wire(
        this.connection,
        mirror,
        found.map(({ id }) => id),
      )
  }

  touch(kind: Kind, id: string): void {
    this.connection.run(`UPDATE ${mirrorOf(kind).table} SET revision = revision + 1 WHERE id = ?`, [id])
  }

  drop(kind: Kind, item: Item, note: Note): void {
    const mirror = mirrorOf(kind)
    unwire(this.connection, mirror, item.id)
    this.connection.run(`DELETE FROM ${mirrorOf(kind).table} WHERE id = ?`, [item.id])
    const parent = kind.waits && (item as unknown as Record<string, string>)[kind.waits.parent]
    if (kind.waits) wire(this.connection, mirror, [item.id, ...(parent ? [parent] : [])])
    this.rows.record(kind, { ...item, status: 'removed', revision: item.revision + 1 }, item.status, note)
  }

  folders(kind: Kind, inside = ''): string[] {
    // From one folder to the next by the index: a plain DISTINCT would pass every file.
    const sql = `WITH RECURSIVE f(folder) AS (
        SELECT min(folder) FROM files WHERE folder >= ?1 AND folder < ?2
        UNION ALL SELECT (SELECT min(folder) FROM files WHERE folder > f.folder AND folder < ?2) FROM f
          WHERE f.folder IS NOT NULL)
      SELECT folder FROM f
      WHERE folder IS NOT NULL AND (SELECT kind FROM files WHERE files.folder = f.folder LIMIT 1) = ?3`
    // A zero comes right after a slash.
    const beyond = inside === '' ? '\u{10FFFF}' : `${inside}0`
    const found = this.connection.lists(sql, [inside, beyond, kind.name]).map(([folder]) => String(folder))
    return found.filter(folder => inside === '' || folder === inside || folder.startsWith(`${inside}/`))
  }

  files(folder: string): Seen[] {
    return this.seen('folder = ?', [folder])
  }

  file(folder: string, name: string): Seen | undefined {
    return this.seen('folder = ? AND name = ?', [folder, name])[0]
  }

  stamps(folder: string): Stamps {
    const ordered = 'FROM files WHERE folder = ? ORDER BY name'
    const [row] = this.connection.lists(`SELECT group_concat(name, char(10)) FROM (SELECT name ${ordered})`, [folder])
    const numbers = this.connection.lists(`SELECT node, changed ${ordered}`, [folder])
    return { names: String(row?.[0] ?? ''), numbers: numbers as unknown as Stamps['numbers'] }
  }

  complaints(folder: string): Seen[] {
    return this.seen('folder = ? AND message IS NOT NULL', [folder])
  }

  fileOf(kind: Kind, item: string): Seen | undefined {
    const form = kind.file
    if (!form) return undefined
    const sql = `SELECT ${[...kind.list, form.name].join(', ')} FROM ${mirrorOf(kind).table} WHERE id = ?`
    const [row] = this.connection.lists(sql, [item])
    if (!row) return undefined
    const folder = form.folders.map(segment => row[kind.list.indexOf(segment.slice(1, -1))] ?? segment).join('/')
    const file = this.file(folder, String(row.at(-1)))
    return file?.item === item ? file : undefined
  }

  remember(kind: Kind, files: readonly Seen[]): void {
    const into = 'INSERT OR REPLACE INTO files (folder, name, kind, item, node, changed, written, line, message)'
    insertMany(this.connection, into, 9, files, ({ folder, name, item, node, changed, written, complaint }, put) => {
      for (const value of [folder, name, kind.name, item, node, changed, written]) put(value)
      put(complaint?.line ?? null)
      put(complaint?.message ?? null)
    })
  }

  forget(folder: string, name: string): void {
    this.connection.run('DELETE FROM files WHERE folder = ? AND name = ?', [folder, name])
  }

  lastNumber(kind: Kind, list: Fields): number {
    const sql = 'SELECT last FROM numbers WHERE kind = ? AND list = ?'
    return Number(this.connection.all(sql, [kind.name, listKey(kind, list)])[0]?.['last'] ?? 0)
  }

  raiseNumber(kind: Kind, list: Fields, number: number): void {
    keepNumber(this.connection, kind, list, number)
  }

  /** A file that was away and is back: whoever had its item before must not be taken for whoever has it now. */
  private countsOf(kind: Kind, id: string): { token: number; revision: number } {
    const [last] = this.connection.lists(
      'SELECT token, revision FROM events WHERE kind = ? AND id = ? ORDER BY seq DESC LIMIT 1',
      [kind.name, id],
    )
    return last ? { token: Number(last[0]) + 1, revision: Number(last[1]) + 1 } : COUNTED
  }

  private seen(which: string, values: readonly string[]): Seen[] {
    const columns = 'folder, name, item, node, changed, written, line, message'
    const rows = this.connection.lists(`SELECT ${columns} FROM files WHERE ${which}`, values)
    return (rows as unknown as SeenRow[]).map(([folder, name, item, node, changed, written, line, message]) => ({
      folder,
      name,
      item,
      node,
      changed,
      written,
      complaint: message === null ? null : { line: line ?? 1, message },
    }))
  }
}

const COUNTED = { token: 0, revision: 1 }
const OURS = new Set(['id', 'token', 'revision'])
type SeenRow = [string, string, string | null, number, number, number, number | null, string | null]

const mirrors = new WeakMap<Kind, Kind>()

/** The same kind in a table of its own: files may hold what a table of items would not take, the same finding twice. */
function mirrorOf<T extends Item>(kind: Kind<T>): Kind<T> {
  let mirror = mirrors.get(kind)
  if (!mirror) mirrors.set(kind, (mirror = { ...kind, table: `files_${kind.table}` }))
  return mirror as Kind<T>
}
