import { Problem } from '../core/problem.ts'
import { qualified } from './names.ts'
import type { Todo } from './record.ts'

/** Two verbs lead to `ready`, each from one status. */
const WAYS = {
  pending: (id: string) => `Approve it: punchlist backlog approve ${id}.`,
  interrupted: (id: string) => `Bring it back: punchlist backlog resume ${id}.`,
} as const

/** Refuses a todo that the other verb brings to `ready`. */
export function refuseUnlessFrom(item: Todo, from: keyof typeof WAYS): void {
  const { status } = item
  if (status === from || (status !== 'pending' && status !== 'interrupted')) return
  const id = qualified(item)
  throw new Problem('move_refused', `${id} is ${status}, not ${from}`, WAYS[status](id), {
    id,
    from: status,
    to: 'ready',
  })
}
