import * as v from 'valibot'
import { Problem } from './problem.ts'
import { isInvisible } from './text.ts'

/** A field that may be left out, and what it is. */
export const described = <const S extends v.GenericSchema>(schema: S, text: string) =>
  v.optional(v.pipe(schema, v.description(text)))

/** One line of text from outside. */
export function line(max: number) {
  return v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty('must not be empty'),
    v.check(text => text === '' || !isInvisible(text), 'must not be empty: nothing in it can be seen'),
    v.maxLength(max, `must be at most ${max} characters`),
    v.check(wellFormed, 'must be well-formed Unicode'),
    v.check(text => !LINE_CONTROLS.test(text), 'must not contain control characters or line breaks'),
  )
}

/** Text of several lines from outside. */
export function prose(max: number) {
  return v.pipe(
    v.string(),
    v.maxLength(max, `must be at most ${max} characters`),
    v.check(wellFormed, 'must be well-formed Unicode'),
    v.check(text => !PROSE_CONTROLS.test(text), 'must not contain control characters other than line breaks and tabs'),
  )
}

/** A whole number from outside, within bounds. */
export function wholeNumber(least: number, most: number) {
  return v.pipe(
    v.number(),
    v.integer('must be a whole number'),
    v.minValue(least, `must be ${least} or more`),
    v.maxValue(most, `must be ${most} or less`),
  )
}

/** What a file holds, or standard input for `-`. */
export function parsedJson(json: string, file: string, hint: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch (error) {
    const what = file === '-' ? 'standard input' : file
    throw new Problem('bad_input', `${what} is not JSON: ${(error as Error).message}`, hint)
  }
}

/** A length of time, as people write it; in milliseconds when it is used. */
export function duration() {
  return v.pipe(
    v.string(),
    v.regex(/^(?:\d{1,9}ms|\d{1,8}s|\d{1,7}m|\d{1,5}h|\d{1,4}d)$/, 'must be a duration such as 30m'),
  )
}

/** Bounded: milliseconds of a longer one are more than every engine can keep. */
const LONG_DURATION = /^[1-9](?:\d{0,7}s|\d{0,6}m|\d{0,4}h|\d{0,3}d)$/

/** The same, of a second or more. */
export function longDuration() {
  return v.pipe(v.string(), v.regex(LONG_DURATION, 'must be a duration of a second or more, such as 30m'))
}

export function milliseconds(text: string): number {
  const [, count = '0', unit = 'ms'] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? []
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

// oxlint-disable-next-line no-control-regex -- finding them is the point
const LINE_CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
// oxlint-disable-next-line no-control-regex -- as above
const PROSE_CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

function wellFormed(text: string): boolean {
  return text.isWellFormed()
}
