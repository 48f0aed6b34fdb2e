import { appended, lineEnd, withoutLines } from './block.ts'
import { Unreadable } from './json.ts'
import type { Piece } from './piece.ts'
import { quoted, readToml, type Statement } from './toml.ts'

type Value = string | number | readonly string[]

/** A table that init writes, or one of a list of tables. */
export interface Table {
  readonly kind: 'table' | 'list'
  readonly path: readonly string[]
  readonly keys: Readonly<Record<string, Value>>
  /** Whether a table of that name, with these keys, was written by init. */
  readonly isOurs: (keys: ReadonlyMap<string, Statement['value']>) => boolean
}

/** Tables in a TOML file; every other line is left as it is. */
export function tables({ name, root, path }: Pick<Piece, 'name' | 'root' | 'path'>, wanted: readonly Table[]): Piece {
  const missing = (text: string) => {
    const there = tablesIn(text)
    return wanted.filter(table => !there.some(one => isSame(one, table)) && !isOnLine(text, table))
  }
  const take = (text: string) => {
    let file: string | undefined = text
    while (file !== undefined) {
      const ours = tablesIn(file).findLast(one => wanted.some(table => isWritten(one, table)))
      if (!ours) break
      file = withoutLines(file, ours.from, ours.to)
    }
    return file
  }
  const hasOlder = (text: string) =>
    tablesIn(text).some(one => wanted.some(table => isWritten(one, table) && !isCurrent(one, table)))
  return {
    name,
    root,
    path,
    take,
    put(text) {
      const base = text !== undefined && hasOlder(text) ? take(text) : text
      const lacking = base === undefined ? wanted : missing(base)
      for (const table of lacking) if (base !== undefined) refuseInline(base, table)
      return lacking.reduce<string | undefined>((file, table) => appended(file, written(table)), base)!
    },
    look(text) {
      if (missing(text).length > 0 || hasOlder(text)) return 'missing'
      const there = tablesIn(text)
      return wanted.every(table => there.some(one => isWritten(one, table))) ? 'there' : 'theirs'
    },
  }
}

interface Found {
  readonly kind: 'table' | 'list'
  readonly path: readonly string[]
  readonly keys: ReadonlyMap<string, Statement['value']>
  readonly from: number
  readonly to: number
}

/** Every table with its keys, the tables below it included: without it, those would make it anew. */
function tablesIn(text: string): Found[] {
  const statements = readToml(text)
  return statements.flatMap((header, index) => {
    if (header.kind === 'key') return []
    const next = statements.findIndex((one, n) => n > index && one.kind !== 'key' && !isBelow(one.path, header.path))
    const body = statements.slice(index + 1, next === -1 ? undefined : next)
    const keys = body.filter(({ kind }) => kind === 'key')
    return {
      kind: header.kind,
      path: header.path,
      keys: new Map(keys.map(({ path, value }) => [path.slice(header.path.length).join('.'), value])),
      from: header.from,
      to: lineEnd(text, (body.at(-1) ?? header).to),
    }
  })
}

function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length > above.length && startsWith(path, above)
}

function startsWith(path: readonly string[], above: readonly string[]): boolean {
  return above.every((name, index) => name === path[index])
}

/** One of a list is known by what it says; a table by its name. */
function isSame(found: Found, table: Table): boolean {
  return table.kind === 'list' ? isWritten(found, table) : String(found.path) === String(table.path)
}

function isWritten(found: Found, table: Table): boolean {
  return found.kind === table.kind && String(found.path) === String(table.path) && table.isOurs(found.keys)
}

/** Whether what it says is what this release would write; numbers may be the user's. */
function isCurrent({ keys }: Found, table: Table): boolean {
  return Object.entries(table.keys).every(
    ([key, value]) => typeof value === 'number' || JSON.stringify(keys.get(key)) === JSON.stringify(value),
  )
}

/** Whether a table is there, written in a line of the table above it. */
function isOnLine(text: string, { kind, path }: Table): boolean {
  return kind === 'table' && readToml(text).some(one => one.kind === 'key' && startsWith(one.path, path))
}

/** A name that was given a value on one line cannot get a table as well. */
function refuseInline(text: string, { path }: Table): void {
  const inline = readToml(text).find(one => one.kind === 'key' && startsWith(path, one.path))
  if (inline) throw new Unreadable(text, inline.from, `${path.join('.')} cannot be added to what is on this line`)
}

function written({ kind, path, keys }: Table): string[] {
  const name = path.join('.')
  const header = kind === 'list' ? `[[${name}]]` : `[${name}]`
  return [header, ...Object.entries(keys).map(([key, value]) => `${key} = ${rendered(value)}`)]
}

function rendered(value: Value): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? quoted(value) : `[${value.map(quoted).join(', ')}]`
}
