import { openStatuses } from '../core/lifecycle.ts'
import type { Caller } from '../core/operation.ts'
import type { Whereabouts } from '../core/session.ts'
import { todo } from './kind.ts'
import { qualified, shortened } from './names.ts'
import { FRONTMATTER, type FrontmatterKey, TODO_STATUSES, type Todo } from './record.ts'

export interface Listing {
  readonly status?: readonly string[] | undefined
  readonly priority?: string | undefined
  readonly source?: string | undefined
  readonly tag?: string | undefined
  readonly assignedTo?: string | undefined
  /** The qualified id of the last todo of the page before. */
  readonly after?: string | undefined
  /** Absent: all of them. */
  readonly limit?: number | undefined
  /** Absent: every field. */
  readonly fields?: readonly string[] | undefined
}

/** One page of a session's todos, what is open first, and how many there are beyond it. */
export async function listTodos(
  caller: Caller,
  where: Whereabouts,
  { status = TODO_STATUSES, priority, source, tag, assignedTo, after, limit, fields }: Listing,
): Promise<{ todos: Todo[]; more: number }> {
  const wanted = Object.fromEntries(
    Object.entries({ ...where, priority, source, assigned_to: assignedTo }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>
  const open = new Set(openStatuses(todo.lifecycle))
  if (limit === undefined || after !== undefined || tag !== undefined) {
    const every = await found(caller, wanted, {
      group: status,
      tag,
      fields: fields && [...new Set([...fields, 'status'])],
    })
    const ordered = [...every.filter(item => open.has(item.status)), ...every.filter(item => !open.has(item.status))]
    const start = after === undefined ? 0 : ordered.findIndex(({ id }) => shortened(id) === after) + 1
    const todos = ordered.slice(start, limit === undefined ? undefined : start + limit)
    return { todos, more: ordered.length - start - todos.length }
  }
  const groups = [status.filter(name => open.has(name)), status.filter(name => !open.has(name))]
  // What is finished piles up: it is looked at only as far as the page has room for it.
  const todos: Todo[] = []
  for (const group of groups) {
    if (todos.length < limit) {
      todos.push(...(await found(caller, wanted, { group, fields, limit: limit - todos.length })))
    }
  }
  const counts = await caller.store.count(todo, { where: wanted, status })
  return { todos, more: Object.values(counts).reduce((sum, n) => sum + n, 0) - todos.length }
}

async function found(
  caller: Caller,
  where: Readonly<Record<string, string>>,
  { group, tag, fields, limit }: Pick<Listing, 'tag' | 'fields' | 'limit'> & { group: readonly string[] },
): Promise<Todo[]> {
  if (group.length === 0) return []
  const query = { where, status: group, fields: fields && tag !== undefined ? [...fields, 'tags'] : fields }
  const items = await caller.store.find(todo, limit === undefined ? query : { ...query, limit })
  return tag === undefined ? items : items.filter(({ tags }) => tags.includes(tag))
}

const SEARCHED = (Object.keys(FRONTMATTER) as FrontmatterKey[]).filter(key => key !== 'schema_version')

/** The todos in which every word of a query occurs, in title, fields or body, whatever the case. */
export async function searchTodos(caller: Caller, where: Whereabouts, query: string): Promise<Todo[]> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const all = await caller.store.find(todo, { where })
  const hits: Todo[] = []
  // Bodies can be long: they are read by the hundred, and only where the rest does not hold every word.
  for (let from = 0; from < all.length; from += 100) {
    const page = all.slice(from, from + 100)
    const heads = page.map(item =>
      [qualified(item), item.title, ...SEARCHED.map(key => item[key] ?? '')].flat().join('\n').toLowerCase(),
    )
    const doubtful = page.filter((_, index) => !words.every(word => heads[index]!.includes(word)))
    const bodies = await caller.store.texts(
      todo,
      doubtful.map(({ id }) => id),
    )
    hits.push(
      ...page.filter((item, index) => {
        const whole = `${heads[index]}\n${bodies.get(item.id)?.['body']?.toLowerCase() ?? ''}`
        return words.every(word => whole.includes(word))
      }),
    )
  }
  return hits
}
