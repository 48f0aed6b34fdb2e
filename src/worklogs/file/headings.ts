import { wordsIn } from './words.ts'

/** The number and the subject in the heading of a task; undefined for any other heading. */
export function taskIn(heading: string): { readonly number: number; readonly subject: string } | undefined {
  const found = TASK.exec(heading)
  if (!found) return undefined
  if (found[1]!.includes('**')) return taskIn(heading.replaceAll('**', ''))
  return { number: Number(found[2]), subject: found[3]!.trim() }
}

/** The same for a heading as we write it, without a pattern: slow until it is compiled. Its text begins at `from`. */
export function quickTask(text: string, from: number, end: number): ReturnType<typeof taskIn> {
  if (!text.startsWith(' Task #', from) || text.charCodeAt(end - 1) === HASH) return undefined
  let number = 0
  let at = from + 7
  for (; at < from + 14; at++) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) break
    number = number * 10 + digit
  }
  if (at === from + 7 || !text.startsWith(': ', at) || at + 2 >= end) return undefined
  return { number, subject: wordsIn(text, at + 1, end) }
}

export function isDecisions(heading: string): boolean {
  return DECISIONS.has(wordsOf(heading))
}

export function isFailure(heading: string): boolean {
  return FAILURES.has(wordsOf(heading))
}

/** A line of text that begins like a heading, `**Decisions**:` say: where that ends, and whether decisions follow. */
export function labelIn(text: string, from: number, end: number): { end: number; decisions: boolean } | undefined {
  if (!text.startsWith('**', from) && !text.startsWith('__', from)) return undefined
  const found = LABEL.exec(text.slice(from, Math.min(end, from + 80)))
  if (!found) return undefined
  return { end: from + found[0].length, decisions: isDecisions(found[1]!) }
}

const HASH = 35
const TASK = /^([^\w#]*)task[ \t]*#?[ \t]*(\d{1,15})(?!\w)(?:[ \t]*(?:[:.)–—-](?=[ \t]|$)|:))?(.*)$/is
const LABEL = /^(?:\*\*|__)([\p{L}][\p{L} ]{0,40})[ \t]*(?::[ \t]*(?:\*\*|__)|(?:\*\*|__)[ \t]*(?::|$))/u
const DECISIONS = new Set(['decisions', 'decision', 'key decisions', 'key decision', 'decisions made'])
const FAILURES = new Set(['failure reason', 'failure reasons', 'failure', 'reason for failure'])

/** From the first letter to the last. */
function wordsOf(heading: string): string {
  if (heading === 'Decisions') return 'decisions'
  if (heading === 'Failure reason') return 'failure reason'
  if (heading.length > 60) return ''
  return heading
    .replace(/^\P{L}+/u, '')
    .replace(/\P{L}+$/u, '')
    .replace(/\s+/g, ' ')
    .toLowerCase()
}
