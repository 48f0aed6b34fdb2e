import { type Overview, overviewOf, type Progress, progressOf } from '../../src/worklogs/progress.ts'
import type { Account, TaskSection, Worklog } from '../../src/worklogs/record.ts'

/** An attempt at a task, as a worker's file tells of it. */
export function attempt(number: number, rest: Partial<TaskSection> = {}): TaskSection {
  return {
    number,
    subject: `Subject ${number}`,
    status: 'completed',
    claimed: null,
    completed: null,
    subtasks: [],
    files: [],
    ward: null,
    decisions: [],
    failure: null,
    ...rest,
  }
}

/** How far a worker is that has made these attempts. */
export function worked(
  worker: string,
  sections: readonly TaskSection[],
  rest: Partial<Pick<Worklog, 'role' | 'status' | 'plan_path'> & Pick<Account, 'decisions'>> = {},
  verified: readonly number[] = [],
): Progress {
  const { decisions = [], ...fields } = rest
  return progressOf(
    { worker, role: 'implementation', status: 'completed', plan_path: 'plans/report.md', ...fields },
    { sections, decisions },
    new Set(verified),
  )
}

export function session(...workers: Progress[]): Overview {
  return overviewOf(workers, [])
}

export function boxes(...marks: readonly boolean[]): { text: string; done: boolean }[] {
  return marks.map((done, n) => ({ text: `step ${n + 1}`, done }))
}
