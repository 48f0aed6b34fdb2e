import { inject } from 'vitest'
import { answer, refusal } from './cli.ts'
import { freshSchema } from './postgres.ts'

/** A todo as every door tells of it. */
export interface ToldTodo {
  readonly id: string
  readonly title: string
  readonly path: string
  readonly status: string
  readonly priority: string
  readonly assigned_to: string | null
  readonly claimed_at: string | null
  readonly dependencies: string[]
  readonly duplicate_of: string | null
  readonly related_todos: string[]
  readonly resolution: string | null
  readonly resolution_reason: string | null
  readonly session: string
  readonly token: number
  readonly leaseUntil: string | null
}
export interface One {
  readonly todo: ToldTodo
}
export interface Shown {
  readonly todo: ToldTodo & {
    readonly body: string
    readonly history: {
      readonly from: string | null
      readonly to: string
      readonly by: string
      readonly why: string | null
    }[]
  }
}
export interface Added extends One {
  readonly created: boolean
  readonly results?: readonly { readonly created: boolean; readonly todo: ToldTodo }[]
}
export interface Listed {
  readonly todos: ToldTodo[]
  readonly more: number
  readonly cursor: string | null
  readonly session: string
}

/** What the environment says on each engine, for a workspace that nobody has used yet. */
export const ENGINES: [string, () => Record<string, string>][] = [
  ['files', () => ({})],
  ['sqlite', () => ({ PUNCHLIST_STORE: 'sqlite:list.db' })],
  ['postgres', () => ({ PUNCHLIST_STORE: freshSchema(inject('postgres')) })],
]

export type NewTodo = { readonly title: string; readonly source?: string } & Readonly<Record<string, unknown>>

/** The backlog of a folder, from the command line. */
export class Typist {
  private readonly cwd: string
  private readonly env: Readonly<Record<string, string>>

  constructor(cwd: string, env: Readonly<Record<string, string>> = {}) {
    this.cwd = cwd
    this.env = env
  }

  /** The same folder, for someone else or elsewhere: `PUNCHLIST_SESSION`, `PUNCHLIST_TOKEN` and so on. */
  with(env: Readonly<Record<string, string>>): Typist {
    return new Typist(this.cwd, { ...this.env, ...env })
  }

  async run<T = One>(...args: string[]): Promise<T> {
    return await answer<T>(['backlog', ...args], { cwd: this.cwd, env: this.env })
  }

  async piped<T = One>(input: string, ...args: string[]): Promise<T> {
    return await answer<T>(['backlog', ...args], { cwd: this.cwd, env: this.env, input })
  }

  async refused(...args: string[]) {
    return await refusal(['backlog', ...args], { cwd: this.cwd, env: this.env })
  }

  /** Adds todos in one call; of a review unless told. */
  async add(...items: (string | NewTodo)[]): Promise<Added> {
    const full = items.map(item => ({ source: 'review', ...(typeof item === 'string' ? { title: item } : item) }))
    return await this.piped<Added>(JSON.stringify({ items: full }), 'add', '--items', '-')
  }

  async show(id: string): Promise<Shown['todo']> {
    return (await this.run<Shown>('show', id)).todo
  }

  async list(...args: string[]): Promise<Listed> {
    return await this.run<Listed>('list', ...args)
  }
}

export const ids = ({ todos }: { readonly todos: readonly { readonly id: string }[] }): string[] =>
  todos.map(({ id }) => id)

export const ready = (title: string, more: Readonly<Record<string, unknown>> = {}): NewTodo => ({
  title,
  status: 'ready',
  ...more,
})

/** A todo without its lease: some engines keep how long it still holds, and work out when that is. */
export const leaseless = <T extends ToldTodo>({ leaseUntil: _, ...rest }: T): Omit<T, 'leaseUntil'> => rest

/** The statuses a todo went through. */
export const path = ({ history }: Shown['todo']): string[] => history.map(({ to }) => to)
