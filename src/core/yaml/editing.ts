import { inserted, nextLine, type Splice } from '../splices.ts'
import type { Entry, Frontmatter } from './frontmatter.ts'
import { nodeOf } from './value.ts'

/** A key of a frontmatter, where it stands, and the line it is to have, if that changes. */
export interface KeyChange {
  readonly entry: Entry | undefined
  readonly line: string | undefined
}

/** The lines of keys that change, given all keys in their order: one that is missing comes after the one before it. */
export function keySplices(text: string, front: Frontmatter, keys: readonly KeyChange[]): Splice[] {
  const splices: Splice[] = []
  let next = nextLine(text, front.open)
  for (const { entry, line } of keys) {
    if (entry) next = nextLine(text, (entry.more.at(-1) ?? entry).end)
    if (line === undefined) continue
    splices.push(...(entry ? replacing(text, entry, line) : [inserted(next, line + front.eol)]))
  }
  return splices
}

/** What lies below the line of a key, but for comments, is its value. */
function replacing(text: string, entry: Entry, line: string): Splice[] {
  const node = nodeOf(entry)
  if ('message' in node) return []
  const value = entry.more.filter(each => !node.comments.includes(each))
  return [
    { from: entry.start, to: entry.end, text: line + node.comment },
    ...value.map(({ start, end }) => ({ from: start, to: nextLine(text, end), text: '' })),
  ]
}
