import * as v from 'valibot'
import { described, duration, line, milliseconds, prose, wholeNumber } from '../core/input.ts'
import { isSlug, readTaskId } from './names.ts'
import { writtenPath } from './paths.ts'
import { PRIORITIES, TASK_TYPES } from './record.ts'

/** The parts that inputs of this room are made of. */

export const taskName = () =>
  v.pipe(
    line(300),
    v.check(name => readTaskId(name) !== undefined, 'must be an id such as req_0007 or req_0007_02'),
  )
export const id = () => ({ id: v.pipe(taskName(), v.description('id from queue_list, such as req_0007')) })
export const token = () => ({ token: described(wholeNumber(0, Number.MAX_SAFE_INTEGER), 'from the claim') })
export const worker = () => ({ worker: described(line(200), 'the worker; the caller if absent') })
export const lease = () => ({ lease: described(duration(), 'how long the claim holds unless renewed, 15m if absent') })
export const words = (max: number) => v.pipe(prose(max), v.trim(), v.nonEmpty('must not be empty'))
export const reason = (text: string) => described(words(4000), text)
export const without = () =>
  described(
    v.pipe(v.array(taskName()), v.maxLength(200, 'must be at most 200')),
    'tasks it waits for and goes on without; needs a reason',
  )

export const newTask = () => ({
  title: v.pipe(line(300), v.description('what is to be done, in one line')),
  description: v.pipe(words(200_000), v.description('what is to be done')),
  expect: v.pipe(words(50_000), v.description('what the worker is to bring back')),
  slug: described(
    v.pipe(
      v.string(),
      v.check(
        isSlug,
        'must be words of lower-case letters and digits joined by _, 60 at most, the first not two digits',
      ),
    ),
    'for its directory; made of the title if absent',
  ),
  type: described(v.picklist(TASK_TYPES), 'Standard if absent'),
  priority: described(v.picklist(PRIORITIES), 'NORMAL if absent'),
  targetWorker: described(line(200), 'the only worker it is meant for'),
  dependsOn: described(
    v.pipe(v.array(line(300)), v.maxLength(200, 'must be at most 200')),
    'tasks that must be completed first; #1 is the first of this call',
  ),
  writes: described(
    v.pipe(
      v.array(
        v.pipe(
          line(1000),
          v.check(
            path => writtenPath(path) !== undefined && !path.includes(','),
            'must be a path below the folder of the work',
          ),
        ),
      ),
      v.maxLength(200, 'must be at most 200'),
    ),
    'files and folders it will write; two tasks that share one are not worked on at once',
  ),
  discrete: described(line(300), 'whether it stands on its own'),
  entryCriteria: described(words(50_000), 'what must hold before it is begun'),
  exitCriteria: described(words(50_000), 'what must hold when it is done'),
  subtasks: described(words(50_000), 'how it might be divided'),
  notes: described(words(50_000), 'notes'),
  key: described(line(300), 'adding it again under the same key gives back the same task'),
})

/** A length of time in milliseconds; undefined when none was given. */
export function lasting(text: string | undefined): number | undefined {
  return text === undefined ? undefined : milliseconds(text)
}
