import type { TaskStatus } from '../record.ts'

/** The lines of a section that have a name, in the order they are written. */
export const KEYS = ['Status', 'Claimed', 'Completed', 'Files touched', 'Ward Result'] as const
export type KeyName = (typeof KEYS)[number]

/** A line like `**Status**: completed`, in whatever spelling: where its parts stand. The same object for one line after the other. */
export class KeyLine {
  name: KeyName = 'Status'
  /** One that no other name has. */
  bit = 1
  /** Where its name begins, and where its value begins and ends. */
  word = 0
  value = 0
  valueEnd = 0
  bold = false

  /** Looks for a key in a line whose text begins at `from`. */
  find(text: string, from: number, end: number): boolean {
    let word = from
    while (isEmphasis(text.charCodeAt(word))) word++
    const name = nameAt(text, word)
    if (name === undefined) return false
    let at = afterName(text, word, name)
    if (at < 0) return false
    const closing = at
    if (word > from) while (isEmphasis(text.charCodeAt(at))) at++
    const closed = at > closing
    while (isSpace(text.charCodeAt(at))) at++
    if (at >= end || text.charCodeAt(at) !== COLON) return false
    at++
    if (word > from && !closed) while (isEmphasis(text.charCodeAt(at))) at++
    while (at < end && isSpace(text.charCodeAt(at))) at++
    this.name = name
    this.bit = 1 << KEYS.indexOf(name)
    this.word = word
    this.value = at
    const last = text.charCodeAt(end - 1)
    this.valueEnd = last > 32 && last < 127 ? end : at + text.slice(at, end).trimEnd().length
    this.bold = word - from > 1
    return true
  }
}

/** What is meant by a task's status. */
export function taskStatus(text: string): TaskStatus {
  const known = STATUSES.get(text)
  if (known) return known
  const [first = '', second = ''] =
    text
      .slice(0, 100)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  return STATUSES.get(`${first}_${second}`) ?? STATUSES.get(first) ?? 'unknown'
}

/** A value without the emphasis or the backticks around it; null for none. */
export function bare(value: string): string | null {
  let start = 0
  let end = value.length
  while (start < end && isWrapping(value.charCodeAt(start))) start++
  while (end > start && isWrapping(value.charCodeAt(end - 1))) end--
  return (end - start < value.length ? value.slice(start, end).trim() : value) || null
}

const COLON = 58
const STAR = 42

const SPELLINGS: Readonly<Record<KeyName, RegExp>> = {
  Status: /status/iy,
  Claimed: /claimed(?: at| on)?/iy,
  Completed: /completed(?: at| on)?/iy,
  'Files touched': /files? touched/iy,
  'Ward Result': /wards?(?: results?)?/iy,
}

/** The only key that can begin with these letters. */
function nameAt(text: string, at: number): KeyName | undefined {
  switch (text.charCodeAt(at) | 32) {
    case 115:
      return 'Status'
    case 99:
      return (text.charCodeAt(at + 1) | 32) === 108 ? 'Claimed' : 'Completed'
    case 102:
      return 'Files touched'
    case 119:
      return 'Ward Result'
    default:
      return undefined
  }
}

/** Where a key's name ends; -1 for other words. Written our way, it is found without a pattern, which is slow until it is compiled. */
function afterName(text: string, at: number, name: KeyName): number {
  const after = at + name.length
  const code = text.charCodeAt(after)
  if ((code === COLON || code === STAR) && text.startsWith(name, at)) return after
  const spelling = SPELLINGS[name]
  spelling.lastIndex = at
  return spelling.test(text) ? spelling.lastIndex : -1
}

const STATUSES = new Map<string, TaskStatus>([
  ...['completed', 'complete', 'done'].map(word => [word, 'completed'] as const),
  ...['in_progress', 'inprogress', 'active', 'started', 'doing', 'wip'].map(word => [word, 'in_progress'] as const),
  ...['failed', 'failure', 'error'].map(word => [word, 'failed'] as const),
])

function isEmphasis(code: number): boolean {
  return code === STAR || code === 95
}

function isWrapping(code: number): boolean {
  return isEmphasis(code) || code === 96
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9
}
