import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Authority } from './authority.ts'

/** The variable by which everything that an agent of a run has started is known. */
export const RUN_MARK = 'PUNCHLIST_RUN'

/**
 * Who acts, given who the door takes the caller for. Everything below a run is an agent of it, whatever its own
 * environment says: on Linux the processes above tell, by the mark in the environment they were started with or by
 * being a runner. Elsewhere only the variable does. A process that has both cleared its environment and left its
 * parents (reparented to init) is not recognised.
 */
export function authorityBelow(door: Authority['who'], mark: string | undefined): Authority {
  const { marks, isBelowRunner } = lineage(process.pid)
  const all = mark ? [mark, ...marks] : marks
  if (all.length === 0 && !isBelowRunner) return { who: door, tasks: [] }
  const tasks = all.map(taskIn).filter(task => task !== '')
  return { who: door === 'model' ? 'model' : 'agent', tasks: [...new Set(tasks)] }
}

/** The task in a mark; the mark of its wards has a word more. */
function taskIn(mark: string): string {
  return mark.slice(mark.indexOf(':') + 1).split(' ')[0]!
}

interface Lineage {
  readonly marks: readonly string[]
  readonly isBelowRunner: boolean
}

/** Deeper than any tree of processes that people start. */
const DEEPEST = 200

function lineage(self: number): Lineage {
  const marks: string[] = []
  let isBelowRunner = false
  let pid: number | undefined = self
  for (let depth = 0; pid !== undefined && pid > 1 && depth < DEEPEST; depth++) {
    const mark = read(pid, 'environ')
      .split('\0')
      .find(entry => entry.startsWith(`${RUN_MARK}=`))
      ?.slice(RUN_MARK.length + 1)
    if (mark) marks.push(mark)
    // An agent that `exec`s with a cleared environment stands directly below the runner, which has no mark itself.
    if (pid !== self && isRunner(read(pid, 'cmdline').split('\0'))) isBelowRunner = true
    pid = parentOf(pid)
  }
  return { marks, isBelowRunner }
}

/** Whether a command line is that of `punchlist run`, started by Node or by its own name. */
function isRunner(words: readonly string[]): boolean {
  const at = words.slice(0, 8).findIndex(word => /^punchlist(?:\.js)?$/.test(basename(word)))
  if (at === -1 || (at > 0 && !basename(words[0]!).startsWith('node'))) return false
  const rest = words.slice(at + 1)
  const end = rest.indexOf('--')
  return (end === -1 ? rest : rest.slice(0, end)).includes('run')
}

function parentOf(pid: number): number | undefined {
  const stat = read(pid, 'stat')
  // The name of the program is in parentheses and may contain any character.
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  return Number.isSafeInteger(parent) && parent > 0 ? parent : undefined
}

/** Empty for another user's process, one that is gone, and where there is no /proc. */
function read(pid: number, what: 'environ' | 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'latin1')
  } catch {
    return ''
  }
}
