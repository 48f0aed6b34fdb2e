import { oneLine, tidy } from '../../core/markdown.ts'
import type { Account } from '../record.ts'
import { attempt, below, sure, tells } from './attempt.ts'
import { inert } from './inert.ts'

/** The text with the reason why a task failed, below a heading of its own. */
export function withReason(body: string, number: number, reason: string, wanted: Account): string {
  const { place, level } = attempt(body, number)
  const put = (text: string) =>
    place.failure
      ? `${body.slice(0, place.failure.heading)}\n\n${text}${body.slice(place.failure.end)}`
      : below(body, place.end, `${'#'.repeat(level + 1)} Failure reason\n\n${text}`)
  if (isPlain(reason)) return sure(put(reason), wanted, number)
  const ticks = put(fenced(reason, '`'))
  // A fence that stands open further up would be closed by one of its sort.
  return tells(ticks, wanted) ? ticks : sure(put(fenced(reason, '~')), wanted, number)
}

/** A reason as it reads when it has been written. */
export function reasonAsRead(text: string): string {
  return tidy(text.replaceAll('\0', '\ufffd').toWellFormed())
}

/** Whether it can stand as it is: one line that is nothing but text. */
function isPlain(reason: string): boolean {
  return reason === oneLine(reason) && reason === inert(reason)
}

function fenced(text: string, sign: string): string {
  let longest = 2
  for (const [run] of text.matchAll(sign === '`' ? /`+/g : /~+/g)) longest = Math.max(longest, run.length)
  const fence = sign.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
