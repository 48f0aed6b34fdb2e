import { newId } from '../core/id.ts'
import { refusalFor } from '../core/lifecycle.ts'
import { move, refused } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { refuseUnknownFields } from '../core/unknown-fields.ts'
import { type PlanItem, type PlanStatus, planItem } from './record.ts'
import { finishItem } from './work.ts'

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

const CHANGEABLE = [
  'title',
  'context',
  'completionCriteria',
  'agentType',
  'status',
  'outcome',
  'createdAt',
  'startedAt',
  'completedAt',
] as const satisfies readonly (keyof TurnTodo)[]
const NEW_ROW = [
  'conversationId',
  'turnId',
  'title',
  'context',
  'completionCriteria',
  'agentType',
  'status',
  'priority',
  'outcome',
  'startedAt',
  'completedAt',
] as const satisfies readonly (keyof NewTurnTodo)[]

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
      for (const row of todos) refuseUnknownFields(row, NEW_ROW)
      const at = caller.now().toISOString()
      const drafts = todos.map(({ title, status = 'pending', priority, ...fields }) => {
        const id = newId()
        const refusal = refusalFor(planItem.lifecycle, null, { ...fields, title, status })
        if (refusal) throw refused(planItem, { id, status: 'new' }, status, refusal)
        return {
          id,
          title,
          status,
          at: priority,
          fields: { context: '', completionCriteria: '', ...fields, createdAt: at },
        }
      })
      return (await store.insert(planItem, drafts, { by: caller.by, at })).map(({ item }) => rowOf(item))
    },

    async findByTurn(turnId, status) {
      const wanted = status === undefined ? {} : { status: [status].flat() }
      return (await store.find(planItem, { where: { conversationId, turnId }, ...wanted })).map(rowOf)
    },

    async findById(id) {
      const item = await find(id)
      return item && rowOf(item)
    },

    async update(id, updates) {
      refuseUnknownFields(updates, CHANGEABLE)
      const { status, ...fields } = updates
      const item = await find(id)
      if (!item) return undefined
      const { turnId } = item
      const within = { ...caller, scope: { conversationId, turnId } }
      if (status === 'completed' && fields.outcome) {
        return rowOf((await finishItem(within, { id, status, outcome: fields.outcome })).item)
      }
      const brought = status === 'in_progress' ? { owner: caller.by, ...fields } : fields
      const at = caller.now().toISOString()
      return rowOf(await move(store, planItem, { id, to: status ?? item.status, fields: brought, by: caller.by, at }))
    },

    async countByStatus(turnId) {
      const counts = await store.count(planItem, { where: { conversationId, turnId } })
      return { pending: 0, in_progress: 0, completed: 0, cancelled: 0, ...counts }
    },
  }
}

function rowOf(item: PlanItem): TurnTodo {
  const { id, conversationId, turnId, title, context, completionCriteria, agentType } = item
  const { status, priority, outcome, createdAt, startedAt, completedAt } = item
  const what = { id, conversationId, turnId, title, context, completionCriteria, agentType }
  return { ...what, status, priority, outcome, createdAt, startedAt, completedAt }
}
