import type { Connection, Value } from './connection.ts'

export type Put = (value: Value) => void

const AT_ONCE = 20

/** Inserts rows of some width, several in one statement: a batch may have thousands. `put` gives the values of one. */
export function insertMany<T>(
  connection: Connection,
  into: string,
  width: number,
  all: readonly T[],
  put: (one: T, put: Put) => void,
): void {
  const [one, several] = textsFor(into, width)
  for (let from = 0; from < all.length; ) {
    const many = all.length - from >= AT_ONCE
    const until = from + (many ? AT_ONCE : 1)
    const values: Value[] = []
    const add = (value: Value) => void values.push(value)
    for (; from < until; from++) put(all[from]!, add)
    connection.run(many ? several : one, values)
  }
}

const texts = new Map<string, readonly [string, string]>()

/** The statements for one row and for several. */
function textsFor(into: string, width: number): readonly [string, string] {
  let made = texts.get(into)
  if (!made) {
    const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
    made = [`${into} VALUES ${row}`, `${into} VALUES ${Array.from({ length: AT_ONCE }, () => row).join(', ')}`]
    texts.set(into, made)
  }
  return made
}
