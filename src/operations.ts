import type { Operation } from './core/operation.ts'

/** The rooms and what each offers, loaded when first asked for: one command needs one room. */
const ROOMS: Readonly<Record<string, () => Promise<Record<string, Operation<never>>>>> = {
  plan: async () => {
    const { createTodo, listTodo, startTodo, completeTodo, carryTodo, turnTodo } = await import('./plans/operations.ts')
    return { createTodo, listTodo, startTodo, completeTodo, carryTodo, turnTodo }
  },
  backlog: async () => await import('./backlog/operations.ts'),
  status: async () => ({ status: (await import('./overview.ts')).status }),
  log: async () => ({ log: (await import('./overview.ts')).log }),
}

export const ROOM_NAMES = Object.keys(ROOMS)

/** Every operation of one room; none for a name that is not a room. */
export async function operationsOf(room: string): Promise<Operation[]> {
  const load = Object.hasOwn(ROOMS, room) ? ROOMS[room] : undefined
  return load ? Object.values(await load()) : []
}

/** What is offered to models from one room. */
export async function toolsOf(room: string): Promise<Operation[]> {
  return (await operationsOf(room)).filter(op => op.tools === room)
}
