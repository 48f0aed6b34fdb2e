import { Problem } from '../../core/problem.ts'
import type { Account, TaskSection } from '../record.ts'
import { accountOf, placesIn } from './account.ts'
import type { ItemPlace, Place } from './places.ts'

/** The last attempt at a task in a text, and where its parts stand. */
export interface Attempt {
  readonly section: TaskSection
  readonly place: Place
  /** The level of its heading. */
  readonly level: number
  /** The account with parts of this attempt changed. */
  readonly instead: (changed: Partial<TaskSection>) => Account
}

export function attempt(body: string, number: number): Attempt {
  const { sections, decisions, level, places } = placesIn(body)
  const index = sections.findLastIndex(section => section.number === number)
  if (index < 0) throw new Problem('not_found', `Task #${number} is not in the worklog`, 'Begin it first.', { number })
  const section = sections[index]!
  return {
    section,
    place: places[index]!,
    level,
    instead: changed => ({ sections: sections.toSpliced(index, 1, { ...section, ...changed }), decisions }),
  }
}

/** A changed text, if it tells what it should: something that was left open before may swallow what comes after it. */
export function sure(text: string, wanted: Account, number: number): string {
  if (tells(text, wanted)) return text
  throw new Problem(
    'unreadable_file',
    `the worklog cannot be changed: Task #${number} would not read as it should afterwards`,
    'Look in it for a code fence or a comment that is never closed, close it by hand, then try again.',
    { number },
  )
}

export function tells(text: string, wanted: Account): boolean {
  return JSON.stringify(accountOf(text)) === JSON.stringify(wanted)
}

/** The text with a block below the line that ends here, blank lines before and after it. */
export function below(text: string, end: number, block: string): string {
  return `${text.slice(0, end)}\n\n${block}${/\S/.test(lineAfter(text, end)) ? '\n' : ''}${text.slice(end)}`
}

/** The text with items below the one that ends here. Text right behind them would become theirs. */
export function listedBelow(text: string, end: number, items: readonly string[]): string {
  const next = lineAfter(text, end)
  const gap = /\S/.test(next) && !/^\s*(?:[-*+]|\d+[.)]|#+)\s/.test(next) ? '\n' : ''
  return `${text.slice(0, end)}\n${items.join('\n')}${gap}${text.slice(end)}`
}

/** The indentation and the marker of an item that comes after this one. */
export function nextMarker(text: string, { start, marker }: ItemPlace, steps = 1): string {
  const indent = text.slice(start, marker)
  const [sign, digits] = /^(?:(\d{1,8})[.)]|[-*+])/.exec(text.slice(marker, marker + 10)) ?? ['-']
  return indent + (digits === undefined ? sign : `${Number(digits) + steps}${sign.at(-1)}`)
}

function lineAfter(text: string, end: number): string {
  const start = text.indexOf('\n', end) + 1
  if (start === 0) return ''
  const newline = text.indexOf('\n', start)
  return text.slice(start, newline < 0 ? text.length : newline)
}
