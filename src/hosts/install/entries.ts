import { readJson, valueOf } from './json.ts'
import { type Path, withAdded, withTaken } from './json-editing.ts'
import type { Piece } from './piece.ts'

/** Something that init adds to a JSON file. */
export interface Entry {
  /** The list it goes into; or its own place, where it goes into an object. */
  readonly path: readonly string[]
  readonly into: 'object' | 'array'
  readonly value: unknown
  /** How it stands in a document, if it does. `older`: as another release wrote it. */
  find(document: unknown): 'there' | 'older' | 'theirs' | undefined
}

/** Several entries of one JSON file. `takes` finds one that init wrote, until there is none. */
export function entries(
  { name, root, path }: Pick<Piece, 'name' | 'root' | 'path'>,
  wanted: readonly Entry[],
  takes: (document: unknown) => Path | undefined,
): Piece {
  const found = (text: string) => {
    const document = valueOf(readJson(text))
    return new Set(wanted.map(entry => entry.find(document)))
  }
  const take = (text: string) => {
    let file: string | undefined = text
    while (file !== undefined) {
      const ours = takes(valueOf(readJson(file)))
      if (!ours) break
      file = withTaken(file, ours)
    }
    return file
  }
  return {
    name,
    root,
    path,
    take,
    put(text) {
      const base = text !== undefined && found(text).has('older') ? take(text) : text
      return base === undefined ? made(wanted) : wanted.reduce(added, base)
    },
    look(text) {
      const stands = found(text)
      if (stands.has(undefined) || stands.has('older')) return 'missing'
      return stands.has('theirs') ? 'theirs' : 'there'
    },
  }
}

/** What stands in a document under these names; undefined where it has no such thing. */
export function inside(document: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    document,
  )
}

function added(text: string, entry: Entry): string {
  return entry.find(valueOf(readJson(text))) ? text : withAdded(text, entry.path, entry.value, entry.into)
}

function made(wanted: readonly Entry[]): string {
  const document: Record<string, unknown> = {}
  for (const { path, into, value } of wanted) {
    let place = document
    for (const name of path.slice(0, -1)) place = (place[name] ??= {}) as Record<string, unknown>
    const last = path.at(-1)!
    if (into === 'object') place[last] = value
    else place[last] = [...((place[last] ?? []) as unknown[]), value]
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
