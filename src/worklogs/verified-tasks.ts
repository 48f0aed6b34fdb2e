import type { Caller } from '../core/operation.ts'
import { worklog } from './kind.ts'
import type { Worklog } from './record.ts'

/** What the log says of tasks that were completed after punchlist had run the wards, and they had passed. */
export function whyVerified(numbers: readonly number[]): string {
  const [one = 0] = numbers
  return numbers.length === 1
    ? `Task #${one} completed${PASSED}`
    : `Tasks ${numbers.map(n => `#${n}`).join(' ')} completed${PASSED}`
}

const PASSED = ', wards passed'

/**
 * The numbers of the tasks in a worklog that were completed after punchlist had
 * run the wards. The log tells, not the worklog's text, which is its worker's.
 */
export async function verifiedTasks({ store }: Caller, { id }: Pick<Worklog, 'id'>): Promise<Set<number>> {
  const verified = new Set<number>()
  for (const { why } of await store.events({ of: { kind: worklog, id } })) {
    const [, list = '', after = ''] = /^Tasks? ((?:#\d{1,9} ?)+)(.*)/s.exec(why ?? '') ?? []
    const numbers = list.split(' ').flatMap(text => (text === '' ? [] : [Number(text.slice(1))]))
    for (const number of numbers) {
      if (after === `completed${PASSED}`) verified.add(number)
      else if (/^(?:begun: |completed$|failed: )/.test(after)) verified.delete(number)
    }
  }
  return verified
}
