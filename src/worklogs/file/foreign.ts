import { type Entry, frontmatterOf } from '../../core/yaml/frontmatter.ts'
import { linesOf } from '../../core/yaml/keys.ts'
import { type Extra, FRONTMATTER, type FrontmatterKey } from '../record.ts'

/** Lines of a frontmatter that were passed over, apart: those of our own keys, as they were written, and the others. */
export function linesIn(extra: Extra | null | undefined): {
  readonly own: ReadonlyMap<FrontmatterKey, string>
  readonly others: readonly string[]
} {
  const own = new Map<FrontmatterKey, string>()
  const others: string[] = []
  for (const { entry, lines } of entriesIn(extra)) {
    const key = FRONTMATTER.find(name => name === entry.key?.toLowerCase())
    if (key === 'worker' || key === 'status') own.set(key, lines.join('\n'))
    else others.push(...lines)
  }
  return { own, others }
}

/** The keys and comments among lines of a frontmatter; none where they are not such lines. */
export function entriesIn(extra: Extra | null | undefined): { readonly entry: Entry; readonly lines: string[] }[] {
  const given: unknown = extra?.lines
  if (!Array.isArray(given) || given.length === 0) return []
  const text = `---\n${given.join('\n')}\n---`
  const front = frontmatterOf(text)
  if ('message' in front || front.after < text.length) return []
  return front.entries.map(entry => ({ entry, lines: linesOf(text, entry) }))
}
