import type { Complaint } from '../kind.ts'
import type { Entry, Frontmatter } from './frontmatter.ts'
import { stripped } from './spaces.ts'
import { type Node, nodeOf } from './value.ts'

/** The keys that somebody looks for in a frontmatter. */
export interface Keys {
  /** For each of them, where it stands and what it holds, if it is there. */
  readonly places: readonly (Entry | undefined)[]
  readonly nodes: readonly (Node | undefined)[]
  /** The lines that belong to none of them. */
  readonly foreign: readonly string[]
}

/** `placeOf` tells which of so many keys is the one that is written like this. */
export function keysIn(
  text: string,
  { entries }: Frontmatter,
  count: number,
  placeOf: (key: string) => number | undefined,
): Keys | Complaint {
  const places = Array.from<Entry | undefined>({ length: count })
  const nodes = Array.from<Node | undefined>({ length: count })
  const foreign: string[] = []
  for (const entry of entries) {
    const { key, line } = entry
    const place = key === null ? undefined : placeOf(key)
    if (place === undefined) {
      foreign.push(...linesOf(text, entry))
      continue
    }
    if (places[place]) return { line, message: `${key} stands here a second time` }
    const node = nodeOf(entry)
    if ('message' in node) return { line: node.line, message: `${key}: ${node.message}` }
    for (const comment of node.comments) foreign.push(stripped(comment.text))
    places[place] = entry
    nodes[place] = node
  }
  return { places, nodes, foreign }
}

/** The whole lines of a key or a comment. */
export function linesOf(text: string, { key, start, end, rest, more }: Entry): string[] {
  return [key === null ? rest : text.slice(start, end), ...more.map(each => each.text)]
}
