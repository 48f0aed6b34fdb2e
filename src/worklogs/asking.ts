import * as v from 'valibot'
import { described, line, prose, wholeNumber } from '../core/input.ts'
import { isWorker } from './names.ts'

/** The parts that inputs of this room are made of. */

export const name = () => ({
  name: v.pipe(
    v.string(),
    v.check(isWorker, 'must be letters, digits, - and _, the first not _, 100 at most'),
    v.description('the worker'),
  ),
})
export const task = () => ({
  task: v.pipe(wholeNumber(0, 999_999_999), v.description('number of the task')),
})
export const words = (max: number) => v.pipe(prose(max), v.trim(), v.nonEmpty('must not be empty'))
export const plan = () => v.pipe(line(1000), v.description('path of the plan that is worked on'))
export const subtasks = () =>
  described(v.pipe(v.array(line(1000)), v.maxLength(200, 'must be at most 200')), 'steps, to be checked off')
export const files = () =>
  described(v.pipe(v.array(line(1000)), v.maxLength(1000, 'must be at most 1000')), 'files touched')
