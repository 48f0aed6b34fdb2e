import { accountOf } from './account.ts'
import { attempt, below } from './attempt.ts'
import { KEYS, type KeyName } from './keys.ts'
import type { KeyPlace } from './places.ts'

/** The text with another value for a key of a task's last attempt, which is spelled as it was, or as the keys around it. */
export function withKey(body: string, number: number, name: KeyName, value: string): string {
  const { place } = attempt(body, number)
  const order = place.keys.toSorted((a, b) => KEYS.indexOf(a.name) - KEYS.indexOf(b.name))
  const there = order.find(key => key.name === name)
  if (there) return replaced(body, there, value)
  const before = order.findLast(key => KEYS.indexOf(key.name) < KEYS.indexOf(name))
  if (before) return after(body, before, lineLike(body, before, name, value))
  const [next] = order
  if (!next) return below(body, place.heading, `**${name}**: ${value}`)
  return `${body.slice(0, next.start)}${lineLike(body, next, name, value)}\n${body.slice(next.start)}`
}

/** A list that stands below instead of a value goes with it, unless there are check boxes in it. */
function replaced(body: string, { value: from, valueEnd, end, listEnd }: KeyPlace, value: string): string {
  const head = body.slice(0, from) + gap(body[from - 1]!) + value
  const shorter = head + body.slice(listEnd > end ? listEnd : valueEnd)
  return listEnd > end && boxesIn(shorter) !== boxesIn(body) ? head + body.slice(valueEnd) : shorter
}

function boxesIn(body: string): string {
  return JSON.stringify(accountOf(body).sections.map(({ subtasks }) => subtasks))
}

/** Below a line with a value, but above one with a list: what belongs to that may go on behind it. */
function after(body: string, { start, end, listEnd }: KeyPlace, line: string): string {
  if (listEnd > end) return `${body.slice(0, start)}${line}\n${body.slice(start)}`
  return `${body.slice(0, end)}\n${line}${body.slice(end)}`
}

/** With the marker, the emphasis and the colon of another key. */
function lineLike(body: string, { start, word, value: from }: KeyPlace, name: KeyName, value: string): string {
  const [colon] = /[^\p{L}]*$/u.exec(body.slice(word, from))!
  return body.slice(start, word) + name + colon + gap(colon.at(-1)!) + value
}

function gap(before: string): string {
  return before === ' ' || before === '\t' ? '' : ' '
}
