import type { Complaint } from '../../core/kind.ts'
import { damageIn, unixLines } from '../../core/markdown.ts'
import { type Frontmatter, frontmatterOf } from '../../core/yaml/frontmatter.ts'
import { type Layout, layoutOf } from './layout.ts'
import { KEYS, type Known, knownIn } from './values.ts'

/** A todo's file: what it says, and where each part of that stands. */
export interface Document extends Known {
  readonly front: Frontmatter
  readonly layout: Layout
  readonly body: string
}

export function documentOf(text: string): Document | Complaint {
  const damage = damageIn(text)
  if (damage) return damage
  const front = frontmatterOf(text, KEYS)
  if ('message' in front) return front
  const known = knownIn(text, front)
  if ('message' in known) return known
  const layout = layoutOf(text, front.after)
  const { values, places, foreign, title } = known
  const body = unixLines(text.slice(layout.body.start, layout.body.end))
  return { front, layout, body, values, places, foreign, title }
}
