import { clipped } from './clipped.ts'
import { lasted } from './lasted.ts'
import { costs } from './run-lines.ts'
import type { AtWork, SoFar } from './run-so-far.ts'
import type { Cell } from './table.ts'

/** What is known of the queue besides what the run itself has told. */
export interface Left {
  /** Tasks that nobody has taken yet. */
  readonly left: number
  /** Tasks that wait for a person. */
  readonly waiting: number
}

export interface Showing {
  readonly now: number
  readonly columns: number
  readonly rows: number
  readonly colour: boolean
  readonly left: Left | undefined
  readonly stopping: boolean
}

/** The lines that change while a run goes on: one for each worker, as far as there is room, and the totals. */
export function liveLines(soFar: SoFar, showing: Showing): string[] {
  const { columns, rows, colour } = showing
  const shown = chosen(soFar, Math.max(0, rows - 2))
  const more = soFar.atWork.length - shown.filter(({ work }) => work).length
  const wide = Math.max(0, ...shown.map(({ worker }) => worker.length))
  return [
    ...shown.map(one => workerCells(one, wide, showing.now)),
    ...(more > 0 ? [[{ text: `and ${more} more at work`, style: 'dim' as const }]] : []),
    totals(soFar, showing),
  ].map(cells => clipped(cells, columns, colour))
}

interface Line {
  readonly worker: string
  readonly work: AtWork | undefined
}

/** Every worker in order; where there is no room for all, those that have been at their task longest. */
function chosen({ workers, atWork }: SoFar, room: number): Line[] {
  const busy = new Map(atWork.map(work => [work.worker, work]))
  if (workers.length <= room) return workers.map(worker => ({ worker, work: busy.get(worker) }))
  const longest = atWork.toSorted((one, other) => one.since - other.since)
  return longest
    .slice(0, longest.length > room ? Math.max(0, room - 1) : room)
    .map(work => ({ worker: work.worker, work }))
}

function workerCells({ worker, work }: Line, wide: number, now: number): Cell[] {
  const name = { text: `${worker.padEnd(wide)}  ` }
  if (!work) return [name, { text: 'idle', style: 'dim' }]
  const { task, title, since, attempt, last } = work
  const elapsed = wholeSeconds(now - since).padStart(6)
  return [
    name,
    { text: `${task}  ${elapsed}  ` },
    { text: title },
    { text: attempt > 1 ? `  attempt ${attempt}` : '', style: 'yellow' },
    { text: last ? `  ${last}` : '', style: 'dim' },
  ]
}

function totals({ counts, began, costUsd }: SoFar, { now, left, stopping }: Showing): Cell[] {
  const elapsed = began === undefined ? '' : `  ${wholeSeconds(now - began)}`
  return [
    { text: `${counts.completed} done`, style: counts.completed > 0 ? 'green' : undefined },
    { text: ', ' },
    { text: `${counts.failed} failed`, style: counts.failed > 0 ? 'red' : undefined },
    { text: `, ${left?.waiting ?? counts.waiting} waiting` },
    { text: left ? `, ${left.left} left` : '' },
    { text: elapsed },
    { text: costUsd === null ? '' : `  ${costs(costUsd)}` },
    { text: stopping ? '  stopping: the agents are given time to end' : '', style: 'yellow' },
  ]
}

function wholeSeconds(ms: number): string {
  return lasted(Math.max(0, Math.floor(ms / 1000)) * 1000)
}
