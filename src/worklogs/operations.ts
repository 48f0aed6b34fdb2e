import * as v from 'valibot'
import { described, line } from '../core/input.ts'
import type { Caller } from '../core/operation.ts'
import { endedSession, sessional, type Workflow, whereabouts, workflow } from '../core/session.ts'
import { about, warnings, written } from './answering.ts'
import { files, name, plan, subtasks, task, words } from './asking.ts'
import { completeTask } from './completing.ts'
import { requireOne } from './locating.ts'
import { beginTask, checkOff, closeLog, decide, failTask, openLog } from './logging.ts'
import { ROLES, type Worklog } from './record.ts'
import { regardless } from './regardless.ts'
import { progressBy, sweepSession } from './sessions.ts'
import { viewOf, worklogShape } from './view.ts'

export const worklogOpen = sessional({
  name: 'worklog_open',
  command: 'worklog open',
  tools: 'worklog',
  summary: "Open a worker's log, or go on with the one it has.",
  example: 'punchlist worklog open alice --role implementation --plan plans/report.md',
  input: () =>
    v.object({
      ...name(),
      role: v.pipe(v.picklist(ROLES), v.description('what the worker does')),
      plan: plan(),
      ...workflow(),
    }),
  output: about,
  positional: ['name'],
  run: (caller, { name: worker, role, plan: path, workflow: flow }) =>
    written(caller, flow, async () => openLog(caller, await whereabouts(caller, flow), { worker, role, plan: path })),
})

export const worklogTask = sessional({
  name: 'worklog_task',
  command: 'worklog task',
  tools: 'worklog',
  summary: 'Begin a task. Begun again it gets the subtasks it does not have yet; one that failed is tried anew.',
  example: 'punchlist worklog task alice 1 "Escape the report" --subtask "find the place" --subtask "write the test"',
  input: () =>
    v.object({
      ...name(),
      ...task(),
      subject: v.pipe(line(300), v.description('what is to be done, in one line')),
      subtask: subtasks(),
      again: described(v.boolean(), 'try it anew although it was completed'),
      ...workflow(),
    }),
  output: about,
  positional: ['name', 'task', 'subject'],
  run: (caller, { name: worker, task: number, subject, subtask = [], again = false, workflow: flow }) =>
    written(
      caller,
      flow,
      async () => beginTask(caller, await named(caller, flow, worker), { number, subject, subtasks: subtask, again }),
      number,
    ),
})

export const worklogCheck = sessional({
  name: 'worklog_check',
  command: 'worklog check',
  tools: 'worklog',
  summary: 'Check a subtask off.',
  example: 'punchlist worklog check alice 1 2',
  input: () =>
    v.object({
      ...name(),
      ...task(),
      subtask: v.pipe(v.number(), v.integer(), v.minValue(1, 'must be 1 or more'), v.description('counted from 1')),
      ...workflow(),
    }),
  output: about,
  positional: ['name', 'task', 'subtask'],
  run: (caller, { name: worker, task: number, subtask, workflow: flow }) =>
    written(caller, flow, async () => checkOff(caller, await named(caller, flow, worker), number, subtask), number),
})

/** What a decision is about, for those that a reviewer must see first. */
const TAGS = ['dep', 'arch', 'deviation'] as const

export const worklogDecide = sessional({
  name: 'worklog_decide',
  command: 'worklog decide',
  tools: 'worklog',
  summary: 'Record a decision, and why it was taken.',
  example: 'punchlist worklog decide alice 1 "Escaped at the exit, because the store keeps bytes" --tag arch',
  input: () =>
    v.object({
      ...name(),
      ...task(),
      text: v.pipe(words(4000), v.description('what was decided, and why')),
      tag: described(v.picklist(TAGS), 'a new dependency, a change of architecture, a deviation from the plan'),
      ...workflow(),
    }),
  output: about,
  positional: ['name', 'task', 'text'],
  run: (caller, { name: worker, task: number, text, tag, workflow: flow }) =>
    written(
      caller,
      flow,
      async () =>
        decide(caller, await named(caller, flow, worker), number, tag === undefined ? text : `[${tag}] ${text}`),
      number,
    ),
})

export const worklogComplete = sessional({
  name: 'worklog_complete',
  command: 'worklog complete',
  tools: 'worklog',
  summary: 'Complete a task: the wards of the workspace are run first, and must pass.',
  example: 'punchlist worklog complete alice 1 --file src/report.ts --file test/report.test.ts',
  input: () =>
    v.object({
      ...name(),
      ...task(),
      file: files(),
      ward: described(line(500), 'what you saw of the wards; ours is kept beside it'),
      ...workflow(),
    }),
  output: about,
  positional: ['name', 'task'],
  run: (caller, { name: worker, task: number, file = [], ward, workflow: flow }) =>
    written(
      caller,
      flow,
      async () => completeTask(caller, await named(caller, flow, worker), { number, files: file, reported: ward }),
      number,
    ),
})

export const worklogFail = sessional({
  name: 'worklog_fail',
  command: 'worklog fail',
  tools: 'worklog',
  summary: 'Say that a task failed, and why.',
  example: 'punchlist worklog fail alice 2 --reason "the compiler does not start"',
  input: () => v.object({ ...name(), ...task(), reason: v.pipe(words(20_000), v.description('why')), ...workflow() }),
  output: about,
  positional: ['name', 'task'],
  run: (caller, { name: worker, task: number, reason, workflow: flow }) =>
    written(caller, flow, async () => failTask(caller, await named(caller, flow, worker), number, reason), number),
})

export const worklogClose = sessional({
  name: 'worklog_close',
  command: 'worklog close',
  tools: 'worklog',
  summary: "End a worker's log: completed, or interrupted.",
  example: 'punchlist worklog close alice',
  input: () =>
    v.object({
      ...name(),
      interrupted: described(v.boolean(), 'it was stopped before it was done'),
      ...workflow(),
    }),
  output: about,
  positional: ['name'],
  run: (caller, { name: worker, interrupted = false, workflow: flow }) =>
    written(caller, flow, async () =>
      closeLog(caller, await named(caller, flow, worker), interrupted ? 'interrupted' : 'completed'),
    ),
})

const swept = () => v.object({ interrupted: v.array(worklogShape()), ...warnings() })

export const worklogSweep = sessional({
  name: 'worklog_sweep',
  command: 'worklog sweep',
  tools: 'worklog',
  summary: 'End a session: workers that never ended their log are marked as interrupted.',
  example: 'punchlist worklog sweep --session monday',
  input: () => v.object(workflow()),
  output: swept,
  async run(caller, { workflow: flow }): Promise<v.InferOutput<ReturnType<typeof swept>>> {
    const session = endedSession(caller)
    const found = await regardless(caller, flow, () => sweepSession(caller, session, flow && [flow]))
    if ('hindered' in found) return { interrupted: [], warnings: [found.hindered] }
    const { items, warnings: more } = found
    const progress = await progressBy(caller, items)
    return { interrupted: progress.map((one, n) => viewOf(caller, items[n]!, one)), warnings: [...more] }
  },
})

async function named(caller: Caller, flow: Workflow | undefined, worker: string): Promise<Worklog> {
  return await requireOne(caller, await whereabouts(caller, flow), worker)
}
