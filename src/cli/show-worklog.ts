import type { InferOutput } from 'valibot'
import type { Operation } from '../core/operation.ts'
import { harmlessLine } from '../core/text.ts'
import type * as worklog from '../worklogs/operations.ts'
import type * as reports from '../worklogs/reports.ts'
import { type Cell, faint, lines, painter, table } from './table.ts'

type Answer<Op extends Pick<Operation, 'output'>> = InferOutput<ReturnType<Op['output']>>
type Written = Answer<typeof worklog.worklogTask>
type View = NonNullable<Written['worklog']>
type Task = NonNullable<Written['task']>

/** A worklog answer for people. */
export function shown(name: string, answer: unknown, { colour }: { readonly colour: boolean }): string {
  const show = Object.hasOwn(SHOWN, name) ? SHOWN[name as keyof typeof SHOWN] : undefined
  return show ? show(answer as never, colour) : wrote(answer as Written, colour)
}

const painted = painter({
  active: 'yellow',
  in_progress: 'yellow',
  completed: 'green',
  interrupted: 'red',
  failed: 'red',
})

const SHOWN = {
  worklog_list(answer: Answer<typeof reports.worklogList>, colour: boolean) {
    const { worklogs, tasks, more, workflow, session } = answer
    return lines(
      table(worklogs.map(row), colour),
      ...(tasks ?? []).map(task => details(task, colour)),
      more > 0 ? `${more} more; --all shows everything` : '',
      worklogs.length === 0 ? harmlessLine(`Nobody has a worklog in ${workflow}/${session}.`) : '',
    )
  },

  worklog_summary(answer: Answer<typeof reports.worklogSummary>) {
    const { path, workers, completed_tasks, total_tasks, completed_subtasks, total_subtasks, wards, interrupted } =
      answer
    return lines(
      `${counted(workers, 'worker')} completed ${completed_tasks}/${total_tasks} tasks (${completed_subtasks}/${total_subtasks} subtasks)`,
      wards === 'unknown' ? '' : `wards ${wards}`,
      interrupted.length > 0 ? `still active, now interrupted: ${interrupted.join(', ')}` : '',
      path === null ? 'no summary was written' : harmlessLine(path),
    )
  },

  worklog_sweep: ({ interrupted }: Answer<typeof worklog.worklogSweep>, colour: boolean) =>
    table(interrupted.map(row), colour) || 'Nobody was still active.',
}

function wrote({ worklog: log, task }: Written, colour: boolean): string {
  if (!log) return 'not written; go on with the work'
  return lines(table([row(log)], colour), task ? details(task, colour) : '')
}

function row(log: View): (Cell | string)[] {
  const { worker, role, status, tasks_completed, tasks_total, subtasks_completed, subtasks_total, path } = log
  return [
    worker,
    painted(status),
    role ?? 'unknown',
    `${tasks_completed}/${tasks_total} tasks`,
    `${subtasks_completed}/${subtasks_total} subtasks`,
    faint(path),
  ]
}

function details(task: Task, colour: boolean): string {
  const { number, subject, status, subtasks, files, ward, decisions, failure } = task
  const facts = [
    ...subtasks.map(({ text, done }, index) => [`  ${index + 1}.`, done ? '[x]' : '[ ]', text]),
    ...files.map(file => ['  file', '', file]),
    ...(ward === null ? [] : [['  ward', '', ward]]),
    ...decisions.map(text => ['  decided', '', text]),
    ...(failure === null ? [] : [['  failed', '', failure.slice(0, 200)]]),
  ]
  return lines(table([[`#${number}`, painted(status), subject]], colour), table(facts, colour))
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
