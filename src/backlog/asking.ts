import * as v from 'valibot'
import { described, duration, line, milliseconds, prose, wholeNumber } from '../core/input.ts'
import { isSource, isTodoName } from './names.ts'
import { PRIORITIES } from './record.ts'

/** The parts that inputs of this room are made of. */

export const todoName = () =>
  v.pipe(line(300), v.check(isTodoName, 'must be a number, SOURCE/NUMBER or WORKFLOW/SESSION/SOURCE/NUMBER'))
export const id = () => ({
  id: v.pipe(todoName(), v.description('id from backlog_list, such as review/007, or a number')),
})
export const reason = (text: string) => described(v.pipe(prose(4000), v.trim(), v.nonEmpty('must not be empty')), text)
export const token = () => ({ token: described(wholeNumber(0, Number.MAX_SAFE_INTEGER), 'from the claim') })
export const worker = () => ({ as: described(line(200), 'the worker; the caller if absent') })
export const lease = () => ({ lease: described(duration(), 'how long the claim holds unless renewed, 30m if absent') })
export const priority = () => described(v.picklist(PRIORITIES), 'p2 if absent')
export const ids = (text: string) =>
  described(v.pipe(v.array(todoName()), v.maxLength(500, 'must be at most 500')), text)

export const source = () =>
  v.pipe(
    v.string(),
    v.check(isSource, 'must be lower case letters, digits and dashes, 50 at most'),
    v.description('where it comes from: review, work, pr-comment, tech-debt, audit, test-browser, gap, test, …'),
  )

/** A length of time in milliseconds; undefined when none was given. */
export function lasting(text: string | undefined): number | undefined {
  return text === undefined ? undefined : milliseconds(text)
}
