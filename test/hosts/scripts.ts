import { MARK } from '../../src/continuation/prompt.ts'
import type { Asked, Script, Step } from './script.ts'

/** One step for each request; who is asked more often than that has nothing more to say. */
export function following(...steps: (Step | ((asked: Asked) => Step))[]): Script {
  return asked => {
    const step = steps[asked.request - 1] ?? { say: 'Nothing more.' }
    return typeof step === 'function' ? step(asked) : step
  }
}

export const TITLES = ['Write the parser', 'Test the parser']

export const makesPlan: Step = { call: 'create_todo', input: { items: TITLES.map(title => ({ title })) } }

/** Completes the item that was made as the nth, by the id that the plan's answer gave. */
export const completes = (nth: number) => (asked: Asked) => ({
  call: 'complete_todo',
  input: { todoId: idsIn(asked)[nth - 1], outcome: `the ${nth}. is done` },
})

export const blocks = (nth: number) => (asked: Asked) => ({
  call: 'block_todo',
  input: { todoId: idsIn(asked)[nth - 1], needs: 'the owner decides' },
})

function idsIn({ results }: Asked): string[] {
  return [...new Set((results[0] ?? '').match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))]
}

/** The numbers of the requests that came with a reminder of ours that the one before did not have. */
export function sentOn(asked: readonly Asked[]): number[] {
  const counts = asked.map(({ texts }) => texts.join('\n').split(MARK).length - 1)
  return asked.filter((_, index) => counts[index]! > (counts[index - 1] ?? 0)).map(({ request }) => request)
}
