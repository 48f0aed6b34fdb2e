import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { answer, punchlist, type Ran, refusal } from './cli.ts'

/** A worklog as every door tells of it. */
interface ToldWorklog {
  readonly worker: string
  readonly role: string | null
  readonly status: string
  readonly plan_path: string | null
  readonly workflow: string
  readonly session: string
  readonly path: string
  readonly tasks_completed: number
  readonly tasks_total: number
  readonly subtasks_completed: number
  readonly subtasks_total: number
  readonly decisions: number
}
interface ToldTask {
  readonly number: number
  readonly subject: string
  readonly status: string
  readonly claimed: string | null
  readonly completed: string | null
  readonly subtasks: { readonly text: string; readonly done: boolean }[]
  readonly files: string[]
  readonly ward: string | null
  readonly decisions: string[]
  readonly failure: string | null
}
interface Warning {
  readonly file: string
  readonly line: number
  readonly message: string
}
interface Warned {
  readonly warnings: Warning[]
}
export interface Wrote extends Warned {
  readonly worklog: ToldWorklog
  readonly task?: ToldTask
  readonly written: boolean
}
export interface Listed extends Warned {
  readonly worklogs: ToldWorklog[]
  readonly tasks?: ToldTask[]
  readonly more: number
  readonly cursor: string | null
  readonly workflow: string
  readonly session: string
}
export interface Summarised extends Warned {
  readonly path: string | null
  readonly workers: number
  readonly total_tasks: number
  readonly completed_tasks: number
  readonly total_subtasks: number
  readonly completed_subtasks: number
  readonly unique_tasks: number
  readonly unique_completed: number
  readonly wards: string
  readonly interrupted: string[]
  readonly session: string
}
export interface ForPullRequest extends Warned {
  readonly text: string
  readonly section: string | null
}
export interface Swept extends Warned {
  readonly interrupted: ToldWorklog[]
}

/** The folder of the worklogs that tests write by hand. */
export const TODOS = 'tmp/work/s1/todos'

/** The worklogs of a folder, from the command line; in session s1 unless told. */
export class Typist {
  readonly cwd: string
  private readonly env: Readonly<Record<string, string>>
  private readonly through: readonly string[]

  constructor(
    cwd: string,
    env: Readonly<Record<string, string>> = { PUNCHLIST_SESSION: 's1' },
    through: readonly string[] = [process.execPath],
  ) {
    this.cwd = cwd
    this.env = env
    this.through = through
  }

  /** The same folder, with something else around: started otherwise, or in another environment. */
  with(env: Readonly<Record<string, string>>, through = this.through): Typist {
    return new Typist(this.cwd, { ...this.env, ...env }, through)
  }

  async run<T = Wrote>(...args: string[]): Promise<T> {
    return await answer<T>(['worklog', ...args], this.around)
  }

  /** What a person sees. */
  async seen(...args: string[]): Promise<Ran> {
    return await punchlist(['worklog', ...args], this.around)
  }

  async refused(...args: string[]) {
    return await refusal(['worklog', ...args], this.around)
  }

  async opened(name: string, role = 'implementation'): Promise<Wrote> {
    return await this.run('open', name, '--role', role, '--plan', 'plans/report.md')
  }

  async summary(...args: string[]): Promise<Summarised> {
    return await this.run<Summarised>('summary', ...args)
  }

  async list(...args: string[]): Promise<Listed> {
    return await this.run<Listed>('list', ...args)
  }

  /** A body with the section in it, to the last byte. */
  async merged(body: string): Promise<string> {
    const { status, stdout, stderr } = await punchlist(['worklog', 'pr', '--body', '-'], {
      ...this.around,
      input: body,
    })
    if (status !== 0) throw new Error(`pr: exit ${status}\n${stderr}`)
    return stdout
  }

  get around() {
    const { cwd, env, through } = this
    return { cwd, env, through }
  }

  /** The text of a file of the session; undefined where there is none. */
  text(name: string): string | undefined {
    const path = join(this.cwd, TODOS, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }

  /** Writes a file of the session, as a worker would by hand. */
  put(name: string, text: string | Uint8Array): string {
    const path = join(this.cwd, TODOS, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
}

/** What a worker writes first; `more` are further lines of the frontmatter. */
export const front = (worker: string, status = 'active', more = ''): string =>
  `---\nworker: ${worker}\nrole: implementation\nstatus: ${status}\nplan_path: plans/report.md\n${more}---\n`

/** A text in which no two runs differ. */
export const timeless = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-02T03:04:05.000Z')

/** The rows of the first table, as GitHub takes them apart. */
export function cellsOf(document: string): string[][] {
  const rows = document.split(/\r?\n/).filter(line => line.startsWith('|'))
  return rows.slice(2).map(row => row.slice(1, -1).split(/(?<=(?:^|[^\\])(?:\\\\)*)\|/))
}
