import type { Complaint } from '../../core/kind.ts'
import { damageIn, trimmed, unixLines } from '../../core/markdown.ts'
import type { Passage } from '../../core/splices.ts'
import { type Entry, type Frontmatter, frontmatterOf } from '../../core/yaml/frontmatter.ts'
import { keysIn, linesOf } from '../../core/yaml/keys.ts'
import { FRONTMATTER, type FrontmatterKey } from '../record.ts'
import { statusWord, textOf, type Values } from './values.ts'

/** A worker's file: what it says, and where each part of that stands. */
export interface Document {
  readonly front: Frontmatter
  /** Whose it says that it is. */
  readonly worker: string | null
  readonly values: Values
  /** Where each key of ours stands, if it does. */
  readonly places: readonly (Entry | undefined)[]
  /** The lines that are none of ours. */
  readonly foreign: readonly string[]
  /** The lines of ours that may be passed over: of a worker, and of a status that is none. */
  readonly named: readonly string[]
  readonly odd: readonly string[]
  readonly body: string
  /** Where the body stands. */
  readonly passage: Passage
}

export function documentOf(text: string): Document | Complaint {
  const damage = damageIn(text)
  if (damage) return damage
  const front = frontmatterOf(text, FRONTMATTER)
  if ('message' in front) return front
  const known = keysIn(text, front, FRONTMATTER.length, placeOf)
  if ('message' in known) return known
  const { places, nodes, foreign } = known
  const [worker, role, word, plan_path] = nodes.map(node => textOf(node?.value)) as [Text, Text, Text, Text]
  const status = word === null ? 'unknown' : statusWord(word)
  // Comments among them are foreign lines already.
  const linesAt = (key: FrontmatterKey) => {
    const [entry, node] = [places[FRONTMATTER.indexOf(key)], nodes[FRONTMATTER.indexOf(key)]]
    return entry && node
      ? linesOf(text, { ...entry, more: entry.more.filter(each => !node.comments.includes(each)) })
      : []
  }
  const passage = trimmed(text, front.after, text.length)
  return {
    front,
    worker,
    values: { role, status: status ?? 'unknown', plan_path },
    places,
    foreign,
    named: linesAt('worker'),
    odd: status === undefined ? linesAt('status') : [],
    body: unixLines(text.slice(passage.start, passage.end)),
    passage,
  }
}

type Text = string | null

/** Keys are ours whatever their letters: somebody who writes `Status:` means it. */
function placeOf(key: string): number | undefined {
  const place = (FRONTMATTER as readonly string[]).indexOf(key.toLowerCase())
  return place < 0 ? undefined : place
}
