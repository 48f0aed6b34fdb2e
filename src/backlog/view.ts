import * as v from 'valibot'
import type { Caller } from '../core/operation.ts'
import { qualified, shortened } from './names.ts'
import { FRONTMATTER, type FrontmatterKey, type Todo } from './record.ts'

const text = () => v.nullable(v.string())
const list = () => v.array(v.string())
const integer = () => v.nullable(v.number())
type Shape<K extends FrontmatterKey> = (typeof FRONTMATTER)[K] extends 'json'
  ? ReturnType<typeof list>
  : (typeof FRONTMATTER)[K] extends 'integer'
    ? ReturnType<typeof integer>
    : ReturnType<typeof text>

/** A todo as it is told: every key of its file, in that order, and where it stands. */
export const todoShape = () =>
  v.object({
    id: v.pipe(v.string(), v.description('source and number')),
    title: v.string(),
    path: v.string(),
    ...(Object.fromEntries(
      Object.entries(FRONTMATTER).map(([key, type]) => [
        key,
        type === 'json' ? list() : type === 'integer' ? integer() : text(),
      ]),
    ) as { [K in FrontmatterKey]: Shape<K> }),
    workflow: v.string(),
    session: v.string(),
    token: v.pipe(v.number(), v.description('counts the claims; send it with reports')),
    leaseUntil: text(),
  })

export type TodoView = v.InferOutput<ReturnType<typeof todoShape>>

const KEYS = Object.keys(FRONTMATTER) as FrontmatterKey[]

export function viewOf(caller: Caller, item: Todo): TodoView {
  const { workflow, session, source, file, title, token, leaseUntil } = item
  const view: Record<string, unknown> = {
    id: qualified(item),
    title,
    path: `${caller.work}/${workflow}/${session}/todos/${source}/${file}`,
  }
  for (const key of KEYS) view[key] = item[key]
  return Object.assign(view, { workflow, session, token, leaseUntil }) as TodoView
}

/** What a list can be asked for, beside the id. */
export const VIEWED = ['title', 'path', ...KEYS, 'workflow', 'session', 'token', 'leaseUntil'] as const
export type Viewed = (typeof VIEWED)[number]
export type PartialView = Pick<TodoView, 'id'> & { [K in Viewed]?: TodoView[K] | undefined }

/** The fields of a todo that these parts of its view are made of. */
export function fieldsFor(viewed: readonly Viewed[]): string[] {
  const made = viewed.flatMap(name => (name === 'path' ? ['workflow', 'session', 'source', 'file'] : [name]))
  return [...new Set(made)]
}

/** Parts of a todo's view, for a list of many. Where they are the item's own, the item itself becomes its view. */
export function partOf(caller: Caller, item: Todo, viewed: readonly Viewed[]): PartialView {
  if (viewed.includes('status') && !viewed.includes('path'))
    return Object.assign(item as unknown as PartialView, { id: shortened(item.id) })
  const view: Record<string, unknown> = { id: shortened(item.id) }
  for (const name of viewed) {
    view[name] =
      name === 'path' ? `${caller.work}/${item.workflow}/${item.session}/todos/${item.source}/${item.file}` : item[name]
  }
  return view as PartialView
}
