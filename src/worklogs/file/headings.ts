/** The number and the subject in the heading of a task; undefined for any other heading. */
export function taskIn(heading: string): { readonly number: number; readonly subject: string } | undefined {
  const ours = quickTask(heading)
  if (ours) return ours
  const found = TASK.exec(heading)
  if (!found) return undefined
  if (found[1]!.includes('**')) return taskIn(heading.replaceAll('**', ''))
  return { number: Number(found[2]), subject: found[3]!.trim() }
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

const TASK = /^([^\w#]*)task[ \t]*#?[ \t]*(\d{1,15})(?!\w)(?:[ \t]*(?:[:.)–—-](?=[ \t]|$)|:))?(.*)$/is
const LABEL = /^(?:\*\*|__)([\p{L}][\p{L} ]{0,40})[ \t]*(?::[ \t]*(?:\*\*|__)|(?:\*\*|__)[ \t]*(?::|$))/u
const DECISIONS = new Set(['decisions', 'decision', 'key decisions', 'key decision', 'decisions made'])
const FAILURES = new Set(['failure reason', 'failure reasons', 'failure', 'reason for failure'])

/** A heading as we write it, without a pattern: slow until it is compiled. */
function quickTask(heading: string): ReturnType<typeof taskIn> {
  if (!heading.startsWith('Task #')) return undefined
  const colon = heading.indexOf(': ', 7)
  if (colon < 0 || colon > 12) return undefined
  let number = 0
  for (let at = 6; at < colon; at++) {
    const digit = heading.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return undefined
    number = number * 10 + digit
  }
  return { number, subject: heading.slice(colon + 2).trim() }
}

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
