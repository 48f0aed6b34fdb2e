import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { harmlessLine, jsonText } from '../core/text.ts'
import { StoreDoor } from '../open.ts'
import { lookUp } from '../queue/locating.ts'
import { directoryName } from '../queue/names.ts'
import { runsIn } from '../runner/diary.ts'
import { type RunReport, reportOn, type TaskReport } from '../runner/report.ts'
import { RunState } from '../runner/state.ts'
import { findWorkspace } from '../workspace.ts'
import type { GlobalFlags } from './arguments.ts'
import { lasted } from './lasted.ts'
import type { Surroundings } from './main.ts'
import { costs, counted, workersWith } from './run-lines.ts'
import { askingFrom, callerFor } from './scope.ts'
import { type Cell, faint, lines, painter, table } from './table.ts'

/** Tells what a run did, after it has ended or while it goes on. */
export async function runReport(
  wanted: string | undefined,
  globals: GlobalFlags,
  { terminal, env, cwd }: Surroundings,
): Promise<number> {
  const asking = askingFrom(globals, env, cwd)
  const workspace = await findWorkspace(asking.wish)
  const door = new StoreDoor(workspace)
  const state = new RunState(workspace.root, door.seal())
  const report = reportOn(state, wanted)
  try {
    // What a run did can be told without the store that it worked on.
    const where = await outputs(callerFor(asking, workspace, door, false), report.tasks).catch(nowhere)
    const earlier = runsIn(state).filter(run => run < report.run)
    if (globals.json) {
      const tasks = report.tasks.map(one => ({ ...one, output: where.get(one.task) ?? null }))
      terminal.out(jsonText({ ...report, tasks, earlier: earlier.slice(0, SHOWN) }))
    } else {
      terminal.out(shown(report, where, earlier, terminal.colour))
    }
    return 0
  } finally {
    await door.close()
  }
}

const SHOWN = 50
const AT_ONCE = 500

type Outputs = ReadonlyMap<string, string>

/** Where what was printed lies now: with the task, which moves, or with what runs remember. */
async function outputs(caller: Caller, tasks: readonly TaskReport[]): Promise<Outputs> {
  if (!caller.inFiles) return new Map(tasks.map(({ task }) => [task, `.punchlist/runs/artifacts/${task}`]))
  const where = new Map<string, string>()
  for (let from = 0; from < tasks.length; from += AT_ONCE) {
    const some = tasks.slice(from, from + AT_ONCE).map(({ task }) => task)
    for (const [id, item] of await lookUp(caller, some)) {
      where.set(id, `${caller.queue}/${item.status}/${directoryName(item)}/artifacts`)
    }
  }
  return where
}

function nowhere(error: unknown): Outputs {
  if (error instanceof Problem) return new Map()
  throw error
}

function shown(report: RunReport, where: Outputs, earlier: readonly string[], colour: boolean): string {
  const { tasks, counts, costUsd } = report
  const named = new Map(tasks.map(one => [one.task, one]))
  const of = (ids: readonly string[]) => ids.slice(0, SHOWN).map(id => named.get(id)!)
  const waiting = tasks.filter(({ outcome }) => outcome === 'waiting').map(({ task }) => task)
  const sum = [counted(inWords(counts)) || 'nothing to do', costs(costUsd)].filter(Boolean).join('  ')
  return lines(
    ...heading(report),
    sum,
    section('Failed', of(report.failed), one => failure(one, where), colour),
    section('Waiting for a reply', of(waiting), one => [[one.task, one.title, one.text.split('\n')[0]!]], colour),
    tasks.length > report.slowest.length ? section('Slowest', of(report.slowest), one => row(one), colour) : '',
    section('Tasks', tasks.slice(0, SHOWN), one => row(one, where), colour),
    tasks.length > SHOWN ? `${tasks.length - SHOWN} more; --json tells all of them` : '',
    earlier.length > 0 ? `\nThe run before: punchlist run --report ${earlier[0]}` : '',
  )
}

function heading({ run, how, error, name, agent, workers, startedAt, lastAt, ms }: RunReport): string[] {
  const day = startedAt.slice(0, 10) === lastAt.slice(0, 10) ? '' : `${lastAt.slice(0, 10)} `
  const when = `${startedAt.slice(0, 19).replace('T', ' ')} to ${day}${lastAt.slice(11, 19)} UTC  ${lasted(ms)}`
  const who = `${workersWith({ workers, agent })}, named ${name}`
  return [harmlessLine(`${run}  ${HOW[how]}${error === null ? '' : `: ${error}`}`), when, harmlessLine(who)]
}

const HOW = {
  ended: 'ended',
  failed: 'could not go on',
  killed: 'was killed: it was last heard of at the end of that time',
  going_on: 'is going on',
} as const

function inWords(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([what, n]) => [what.replace('_', ' '), n]))
}

function section(
  title: string,
  tasks: readonly TaskReport[],
  rows: (one: TaskReport) => (Cell | string)[][],
  colour: boolean,
): string {
  return tasks.length === 0
    ? ''
    : `\n${title}\n${table(
        tasks.flatMap(one => rows(one)),
        colour,
      )}`
}

function failure(one: TaskReport, where: Outputs): (Cell | string)[][] {
  const place = where.get(one.task)
  const last = one.attempts.at(-1)
  const file = place && last !== undefined ? `${place}/attempt_${String(last).padStart(3, '0')}.log` : undefined
  return [[one.task, one.title], ['', one.text.split('\n')[0]!], ...(file ? [['', faint(file)]] : [])]
}

function row(one: TaskReport, where?: Outputs): (Cell | string)[][] {
  const { task, title, outcome, attempts, sentOn, wards, ms, costUsd, worker } = one
  const said = [
    attempts.length > 1 ? `${attempts.length} attempts` : '',
    sentOn > 0 ? `sent on ${sentOn}×` : '',
    wards.failed > 0 ? `wards failed ${wards.failed}×` : wards.passed > 0 ? 'wards passed' : '',
    costs(costUsd),
  ]
  const place = where?.get(task)
  return [
    [
      task,
      painted(outcome.replace('_', ' ')),
      lasted(ms),
      worker,
      title,
      said.filter(Boolean).join(', '),
      ...(place === undefined ? [] : [faint(place)]),
    ],
  ]
}

const painted = painter({ completed: 'green', failed: 'red', waiting: 'yellow', 'cut off': 'red', lost: 'yellow' })
