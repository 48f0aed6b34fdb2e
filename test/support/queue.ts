import { answer, type Ran, refusal, type Surrounded, start } from './cli.ts'

/** A task as every door tells of it. */
export interface ToldTask {
  readonly id: string
  readonly slug: string
  readonly state: string
  readonly dir: string | null
  readonly title: string
  readonly type: string
  readonly priority: string
  readonly posted: string
  readonly parent: string | null
  readonly children: string[]
  readonly dependsOn: string[]
  readonly blockers: number
  readonly waived: Record<string, string>
  readonly targetWorker: string | null
  readonly session: string | null
  readonly owner: string | null
  readonly token: number
  readonly leaseUntil: string | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly checkpoints: number
  readonly waiting: boolean
}
export interface One {
  readonly task: ToldTask
}
export interface Several extends One {
  readonly tasks?: ToldTask[]
}
export interface Claimed extends One {
  readonly token: number
  readonly tasks?: ToldTask[]
}
export interface Listed {
  readonly tasks: ToldTask[]
  readonly more: number
  readonly cursor: string | null
  readonly warnings: { readonly file: string; readonly line: number; readonly message: string }[]
}
export interface ShownTask extends ToldTask {
  readonly description: string
  readonly expect: string
  readonly entryCriteria: string | null
  readonly exitCriteria: string | null
  readonly subtasks: string | null
  readonly notes: string | null
  readonly discrete: string | null
  readonly waitsFor: { readonly id: string; readonly state: string; readonly title: string }[]
  readonly texts: Record<string, string>
  readonly history: {
    readonly at: string
    readonly from: string | null
    readonly to: string
    readonly by: string
    readonly why: string | null
    readonly token: number
  }[]
}
export interface Branch {
  readonly id: string
  readonly state: string
  readonly owner: string | null
  readonly waiting: boolean
  readonly waived: string | null
  readonly progress: { readonly completed: number; readonly waived: number; readonly total: number }
  readonly children: Branch[]
}
export interface Recovery {
  readonly recovered: { readonly id: string; readonly from: string; readonly to: string; readonly what: string }[]
  readonly stale: { readonly id: string; readonly owner: string | null; readonly what: string }[]
  readonly warnings: Listed['warnings']
}
export interface Told {
  readonly id: string
  readonly from: string | null
  readonly to: string
  readonly by: string
  readonly why: string | null
  readonly token: number
}

export type NewTask = { readonly title: string } & Readonly<Record<string, unknown>>

/** What every task must say of itself. */
const SAID = { description: 'What there is to do.', expect: 'It is done.' }

/** The queue of a folder, from the command line. */
export class Typist {
  private readonly around: Surrounded

  constructor(cwd: string, env: Readonly<Record<string, string>> = {}) {
    this.around = { cwd, env }
  }

  /** The same folder, for someone else: `PUNCHLIST_ACTOR`, `PUNCHLIST_TOKEN` and so on. */
  with(env: Readonly<Record<string, string>>): Typist {
    return new Typist(this.around.cwd, { ...this.around.env, ...env })
  }

  async run<T = One>(...args: string[]): Promise<T> {
    return await answer<T>(['queue', ...args], this.around)
  }

  async refused(...args: string[]) {
    return await refusal(['queue', ...args], this.around)
  }

  /** Adds tasks in one call, and gives them back. */
  async add(items: readonly (string | NewTask)[], ...args: string[]): Promise<ToldTask[]> {
    const { task, tasks = [task] } = await answer<Several>(['queue', 'add', '--items', '-', ...args], this.batch(items))
    return tasks
  }

  async addRefused(items: readonly (string | NewTask)[], ...args: string[]) {
    return await refusal(['queue', 'add', '--items', '-', ...args], this.batch(items))
  }

  async claim(worker: string, ...args: string[]): Promise<ToldTask> {
    return (await this.run<Claimed>('claim', '--worker', worker, ...args)).task
  }

  async show(id: string): Promise<ShownTask> {
    return (await this.run<{ task: ShownTask }>('show', id)).task
  }

  async list(...args: string[]): Promise<Listed> {
    return await this.run<Listed>('list', ...args)
  }

  async log(): Promise<Told[]> {
    return (await answer<{ events: Told[] }>(['log', '--limit', '1000'], this.around)).events
  }

  /** A command that goes on while others are run. */
  begin(...args: string[]) {
    return start(['--json', 'queue', ...args], this.around)
  }

  private batch(items: readonly (string | NewTask)[]): Surrounded {
    const full = items.map(item => ({ ...SAID, ...(typeof item === 'string' ? { title: item } : item) }))
    return { ...this.around, input: JSON.stringify({ items: full }) }
  }
}

export const ids = (tasks: readonly { readonly id: string }[]): string[] => tasks.map(({ id }) => id)

/** What a claim that was begun has been answered in the end. */
export const answered = ({ status, stdout, stderr }: Ran): Claimed => {
  if (status !== 0) throw new Error(`exit ${status}\n${stderr}`)
  return JSON.parse(stdout) as Claimed
}

/** A task without its lease: some engines keep how long it still holds, and work out when that is. */
export const leaseless = <T extends ToldTask>({ leaseUntil: _, ...rest }: T): Omit<T, 'leaseUntil'> => rest

/** The states a task went through. */
export const path = ({ history }: ShownTask): string[] =>
  history.filter(({ from, to }) => from !== to).map(({ to }) => to)
