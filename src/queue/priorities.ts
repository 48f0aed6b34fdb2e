import { keyOf } from './document.ts'
import type { Priority } from './record.ts'

/** The priority that a word or a level means, in any case and with words after it; undefined where it means none. */
export function meantPriority(text: string): Priority | undefined {
  const short = text.slice(0, LONGEST)
  const first = short.split(/[\s(),;:/|–—-]+/).find(word => keyOf(word) !== '')
  return MEANINGS.get(keyOf(short)) ?? MEANINGS.get(keyOf(first ?? ''))
}

/** Of a header's value: what comes later explains it. */
const LONGEST = 200

/** P1 to P3 mean what they mean for a todo of which a task is made: HIGH, NORMAL and LOW. */
const SPELLINGS: Readonly<Record<Priority, readonly string[]>> = {
  CRITICAL: ['critical', 'crit', 'p0', 'highest', 'blocker', 'emergency'],
  URGENT: ['urgent', 'asap', 'immediate'],
  HIGH: ['high', 'p1', 'important', 'major'],
  NORMAL: ['normal', 'p2', 'medium', 'med', 'moderate', 'default', 'standard', 'none'],
  LOW: ['low', 'p3', 'p4', 'lowest', 'minor', 'trivial'],
}

const MEANINGS: ReadonlyMap<string, Priority> = new Map(
  Object.entries(SPELLINGS).flatMap(([priority, words]) => words.map(word => [word, priority as Priority] as const)),
)
