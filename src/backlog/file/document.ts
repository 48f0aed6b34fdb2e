import type { Complaint } from '../../core/kind.ts'
import { unixLines } from '../../core/markdown.ts'
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
  const broken = brokenAt(text)
  if (broken >= 0) {
    const line = text.slice(0, broken).split('\n').length
    return { line, message: 'a NUL or half a character stands here: the file is damaged or not text in UTF-8' }
  }
  const front = frontmatterOf(text, KEYS)
  if ('message' in front) return front
  const known = knownIn(text, front)
  if ('message' in known) return known
  const layout = layoutOf(text, front.after)
  const { values, places, foreign, title } = known
  const body = unixLines(text.slice(layout.body.start, layout.body.end))
  return { front, layout, body, values, places, foreign, title }
}

function brokenAt(text: string): number {
  const nul = text.indexOf('\0')
  if (nul >= 0 || text.isWellFormed()) return nul
  return text.search(/\p{Surrogate}/u)
}
