import * as v from 'valibot'
import { type Caller, PAGE_CHARACTERS } from '../core/operation.ts'
import { type Whereabouts, type Workflow, whereabouts } from '../core/session.ts'
import type { Unreadable } from '../core/store.ts'
import type { Resolved } from './deciding.ts'
import { todo } from './kind.ts'
import { locate } from './locating.ts'
import type { Todo } from './record.ts'
import { type PartialView, type TodoView, todoShape, VIEWED, viewOf } from './view.ts'

/** The parts that answers of this room are made of. */

export const about = () => v.object({ todo: todoShape() })
export const warnings = () => ({
  warnings: v.array(v.object({ file: v.string(), line: v.number(), message: v.string() })),
})

export const page = () => ({
  todos: v.array(v.partial(todoShape(), VIEWED)),
  more: v.number(),
  cursor: v.pipe(v.nullable(v.string()), v.description('send as `after` for the next page')),
  workflow: v.string(),
  session: v.string(),
  ...warnings(),
})

export async function named(caller: Caller, name: string, flow: Workflow | undefined): Promise<Todo> {
  return await locate(caller, await whereabouts(caller, flow), name)
}

export function told(caller: Caller, item: Todo) {
  return { todo: viewOf(caller, item) }
}

export function views(caller: Caller, items: readonly Todo[]): TodoView[] {
  return items.map(item => viewOf(caller, item))
}

export function finished(caller: Caller, { todo: item, freed }: Resolved): { todo: TodoView; freed: string[] } {
  return { todo: viewOf(caller, item), freed: [...freed] }
}

/** A page as it is answered; shorter than asked for where its todos are long, unless all were asked for. */
export async function paged(
  caller: Caller,
  where: Whereabouts,
  shown: readonly PartialView[],
  beyond: number,
  all: boolean,
): Promise<{ todos: PartialView[]; more: number; cursor: string | null } & Whereabouts & { warnings: Unreadable[] }> {
  let size = 0
  const fits = (view: PartialView, index: number) => {
    size += JSON.stringify(view).length
    return index === 0 || size <= PAGE_CHARACTERS
  }
  const todos = all ? [...shown] : shown.filter(fits)
  const more = beyond + shown.length - todos.length
  const cursor = more > 0 ? (todos.at(-1)?.id ?? null) : null
  return { todos, more, cursor, ...where, warnings: await caller.store.unreadable(todo, where) }
}
