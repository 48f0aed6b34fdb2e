import * as v from 'valibot'
import { newId } from '../core/id.ts'
import { line, prose, wholeNumber } from '../core/input.ts'
import { openStatuses, refusalFor } from '../core/lifecycle.ts'
import { move, refused } from '../core/move.ts'
import { type Caller, checked } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { refuseUnknownFields } from '../core/unknown-fields.ts'
import { openedTurn } from './current-turn.ts'
import { type PlanItem, type PlanStatus, planItem } from './record.ts'
import { finishItem, rulesForNewItems, startItem } from './work.ts'

/** A plan item as a row: the columns other programs know. */
export type TurnTodo = Pick<
  PlanItem,
  | 'id'
  | 'conversationId'
  | 'turnId'
  | 'title'
  | 'context'
  | 'completionCriteria'
  | 'agentType'
  | 'status'
  | 'priority'
  | 'outcome'
  | 'createdAt'
  | 'startedAt'
  | 'completedAt'
>

/** What a row needs to be made; the rest has its default. A priority is a place in the plan, counted from 0. */
export type NewTurnTodo = Pick<TurnTodo, 'conversationId' | 'turnId' | 'title'> &
  Partial<Omit<TurnTodo, 'id' | 'createdAt'>>

/**
 * The rows of `turn_todos`, for programs that were written against such a
 * repository. Everything goes through the same judge as anywhere else: an
 * update that moves an item illegally is refused.
 */
export interface TurnTodoRepository {
  create(todo: NewTurnTodo): Promise<TurnTodo>
  /** All of them in order, or none. */
  createBatch(todos: readonly NewTurnTodo[]): Promise<TurnTodo[]>
  findByTurn(turnId: string, status?: PlanStatus | readonly PlanStatus[]): Promise<TurnTodo[]>
  findById(id: string): Promise<TurnTodo | undefined>
  update(
    id: string,
    updates: Partial<Omit<TurnTodo, 'id' | 'conversationId' | 'turnId' | 'priority'>>,
  ): Promise<TurnTodo | undefined>
  countByStatus(turnId: string): Promise<Record<PlanStatus, number>>
}

export function turnTodoRepository(caller: Caller): TurnTodoRepository {
  const { store, scope } = caller
  const { conversationId } = scope
  const find = async (id: string) => (await store.find(planItem, { where: { conversationId, id }, limit: 1 }))[0]

  return {
    async create(todo) {
      const [created] = await this.createBatch([todo])
      return created!
    },

    async createBatch(todos) {
      const at = caller.now().toISOString()
      for (const row of Array.isArray(todos) ? todos : []) requireKnown(newRow, row)
      const rows = checked(v.array(newRow), todos)
      const drafts = []
      for (const { title, status = 'pending', priority, ...given } of rows) {
        const id = newId()
        const fields = present(given)
        const refusal = refusalFor(planItem.lifecycle, null, { ...fields, title, status })
        if (refusal) throw refused(planItem, { id, status: 'new' }, status, refusal)
        const within = { ...caller, scope: { conversationId: given.conversationId, turnId: given.turnId } }
        const of = await openedTurn(within)
        const rules = of && (await rulesForNewItems(within, of))
        drafts.push({
          id,
          title,
          status,
          at: priority,
          fields: { context: '', completionCriteria: '', ...rules, ...fields, createdAt: at },
        })
      }
      return (await store.insert(planItem, drafts, { by: caller.by, at })).map(({ item }) => rowOf(item))
    },

    async findByTurn(turnId, status) {
      const query = checked(v.object({ turnId: name(), status: v.optional(statuses) }), { turnId, status })
      const wanted = query.status === undefined ? {} : { status: [query.status].flat() }
      return (await store.find(planItem, { where: { conversationId, turnId: query.turnId }, ...wanted })).map(rowOf)
    },

    async findById(id) {
      const item = await find(idFrom(id))
      return item && rowOf(item)
    },

    async update(id, updates) {
      requireKnown(changes, updates)
      const item = await find(idFrom(id))
      if (!item) return undefined
      const { status = item.status, ...fields } = changesOf(item, checked(changes, updates))
      const { turnId } = item
      const within = { ...caller, scope: { ...scope, conversationId, turnId } }
      const open = openStatuses(planItem.lifecycle)
      if (open.includes(item.status) && !open.includes(status)) return await finished(within, item, status, fields)
      if (fields.completionCriteria !== undefined && fields.completionCriteria !== item.completionCriteria)
        await requireCriteria(within, item)
      const begun = status === 'in_progress' ? (await startItem(within, item.id)).item : item
      const why = changedCriteria(item, fields)
      const at = caller.now().toISOString()
      return rowOf(await move(store, planItem, { id: begun.id, to: status, fields, by: caller.by, at, why }))
    },

    async countByStatus(turnId) {
      const counts = await store.count(planItem, {
        where: { conversationId, turnId: checked(v.object({ turnId: name() }), { turnId }).turnId },
      })
      return { pending: 0, in_progress: 0, completed: 0, cancelled: 0, ...counts }
    },
  }
}

type Changes = Partial<Omit<TurnTodo, 'id' | 'conversationId' | 'turnId' | 'priority'>>

/** Completes or cancels an item as any door does, with what else the update says. */
async function finished(caller: Caller, item: PlanItem, to: PlanStatus, { outcome, ...more }: Changes) {
  const answer = outcome ?? item.outcome
  const status = to as 'completed' | 'cancelled'
  if (answer === null || answer === '') {
    throw refused(planItem, item, to, {
      why: 'missing',
      missing: ['outcome'],
      legal: ['in_progress', 'completed', 'cancelled'],
    })
  }
  return rowOf((await finishItem(caller, { id: item.id, status, outcome: answer, more: present(more) })).item)
}

/** What an update changes. What names an item may be sent along, and is never another. */
function changesOf(
  item: PlanItem,
  { id, conversationId, turnId, priority, ...given }: v.InferOutput<typeof changes>,
): Changes {
  const fixed = { id, conversationId, turnId, priority }
  const wrong = Object.entries(fixed).filter(
    ([field, value]) => value !== undefined && value !== item[field as keyof typeof fixed],
  )
  if (wrong.length === 0) return present(given) as Changes
  const names = wrong.map(([field]) => field).join(', ')
  throw new Problem(
    'bad_input',
    `Item ${item.id}: ${names} cannot be changed`,
    `Leave ${names} out. Items come to another turn by being carried there.`,
    { wrong: wrong.map(([field]) => ({ field, message: 'cannot be changed' })) },
  )
}

/** What an agent's or a model's work is measured by is not its own to change. */
async function requireCriteria(caller: Caller, { id }: PlanItem): Promise<void> {
  const { who } = await caller.authority()
  if (who !== 'agent' && who !== 'model') return
  throw new Problem(
    'move_refused',
    `The completion criteria of ${id} are not an agent's to change`,
    'Leave completionCriteria out; a person changes them.',
    { id },
  )
}

function changedCriteria({ completionCriteria: before }: PlanItem, { completionCriteria: after }: Changes) {
  if (after === undefined || after === before) return undefined
  return `criteria: ${(before || 'none').slice(0, 200)} -> ${(after || 'none').slice(0, 200)}`
}

const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const
const name = () => line(200)
const time = () =>
  v.nullable(
    v.pipe(
      v.string(),
      v.check(text => !Number.isNaN(Date.parse(text)), 'must be a time'),
    ),
  )
const statuses = v.union([v.picklist(STATUSES), v.array(v.picklist(STATUSES))])

/** What a program may say about a row. */
const said = {
  context: v.optional(prose(32_768)),
  completionCriteria: v.optional(prose(8192)),
  agentType: v.optional(v.nullable(line(100))),
  status: v.optional(v.picklist(STATUSES)),
  priority: v.optional(wholeNumber(0, 1_000_000)),
  outcome: v.optional(v.nullable(prose(16_384))),
  startedAt: v.optional(time()),
  completedAt: v.optional(time()),
}
const newRow = v.strictObject({ ...said, conversationId: name(), turnId: name(), title: line(500) })
const changes = v.strictObject({
  ...said,
  id: v.optional(line(100)),
  conversationId: v.optional(name()),
  turnId: v.optional(name()),
  title: v.optional(line(500)),
  createdAt: v.optional(
    v.pipe(
      v.string(),
      v.check(text => !Number.isNaN(Date.parse(text)), 'must be a time'),
    ),
  ),
})

function requireKnown({ entries }: { readonly entries: v.ObjectEntries }, row: unknown): void {
  if (typeof row === 'object' && row !== null) refuseUnknownFields({ ...row }, Object.keys(entries))
}

function idFrom(id: unknown): string {
  return checked(v.object({ id: v.pipe(v.string(), v.maxLength(100)) }), { id }).id
}

/** Without what is there and undefined, which would empty a field. */
function present<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}

function rowOf(item: PlanItem): TurnTodo {
  const { id, conversationId, turnId, title, context, completionCriteria, agentType } = item
  const { status, priority, outcome, createdAt, startedAt, completedAt } = item
  const what = { id, conversationId, turnId, title, context, completionCriteria, agentType }
  return { ...what, status, priority, outcome, createdAt, startedAt, completedAt }
}
