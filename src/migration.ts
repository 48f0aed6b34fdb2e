import { constants, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import * as v from 'valibot'
import { leaves } from './core/boundary.ts'
import { makeNewFolder, moveEntry, syncFolder } from './core/file-entries.ts'
import { readBytes, refuseLinks, removeFile, writeDurably, writeNew } from './core/files.ts'
import { line } from './core/input.ts'
import type { Entry } from './core/kind.ts'
import { operation } from './core/operation.ts'
import { Problem } from './core/problem.ts'
import { logged } from './queue/execution-log.ts'
import { type MigrationPlan, migrationPlan, type Refusal, type Step } from './queue/legacy.ts'
import type { OldDirectory } from './queue/old-task.ts'
import { TASK_STATES } from './queue/record.ts'

export const queueMigrate = operation({
  name: 'queue_migrate',
  command: 'queue migrate',
  tools: 'queue',
  summary: 'Bring tasks of older forms into the present one; shows what it would do unless told to apply it.',
  example: 'punchlist queue migrate coordination --apply',
  readOnly: input => !(input as { apply?: boolean }).apply,
  input: () =>
    v.object({
      dir: v.pipe(line(4000), v.description('the folder with to_execute, in_progress and the others')),
      apply: v.optional(v.pipe(v.boolean(), v.description('make the changes'))),
    }),
  output: () =>
    v.object({
      changes: v.array(v.object({ kind: v.string(), from: v.string(), to: v.string(), why: v.string() })),
      applied: v.boolean(),
      refused: v.array(v.object({ from: v.string(), why: v.string() })),
    }),
  positional: ['dir'],
  async run(caller, { dir, apply = false }) {
    const root = rootOf(caller.root, dir)
    const { tasks, refused } = planFor(root)
    const { steps, stopped } = apply ? applied(root, tasks) : { steps: tasks.flat(), stopped: [] }
    const changes = steps.map(({ kind, from, to, why }) => ({ kind, from, to, why }))
    const unchanged: Refusal[] = [...refused, ...stopped]
    return { changes, applied: apply, refused: unchanged }
  },
})

/** What has to be done below a folder. */
export function planFor(root: string): MigrationPlan {
  const directories: OldDirectory[] = []
  const others: string[] = []
  const refused: Refusal[] = []
  for (const folder of ['', ...TASK_STATES]) {
    const inside = join(root, folder)
    if (folder !== '' && !lstatSync(inside, { throwIfNoEntry: false })?.isDirectory()) {
      if (lstatSync(inside, { throwIfNoEntry: false })) refused.push({ from: folder, why: 'is not a folder' })
      continue
    }
    for (const entry of readdirSync(inside, { withFileTypes: true })) {
      const { name } = entry
      if (folder === '' && ((TASK_STATES as readonly string[]).includes(name) || !/^(?:claimed|req)_/i.test(name)))
        continue
      const path = folder === '' ? name : `${folder}/${name}`
      if (!entry.isDirectory()) others.push(path)
      else {
        const stopped = attempt(path, () => directories.push({ folder, name, entries: entriesIn(join(inside, name)) }))
        if (stopped) refused.push(stopped)
      }
    }
  }
  const { tasks, refused: unclear } = migrationPlan({ directories, others }, path => textOf(join(root, path)))
  return { tasks, refused: [...refused, ...unclear] }
}

/** Makes one change. Every one may be made again: what is done already is left as it is. */
export function carryOut(root: string, { kind, from, to, entry }: Step): void {
  const [source, target] = [join(root, from), join(root, to)]
  for (const path of [source, target]) refuseLinks(root, dirname(path))
  if (kind === 'log')
    return rewrite(target, logged(lstatSync(target, { throwIfNoEntry: false }) && readText(target), entry!))
  if (kind === 'flag') return flag(target)
  if (kind === 'remove') {
    removeFile(source)
    return syncFolder(dirname(source))
  }
  // rename(2) takes the place of a file, and of an empty directory, without a word.
  if (lstatSync(target, { throwIfNoEntry: false })) throw new Error(`${to} is there already`)
  if (!lstatSync(dirname(target), { throwIfNoEntry: false })) makeNewFolder(dirname(target))
  moveEntry(source, target)
  syncFolder(dirname(target))
  if (dirname(source) !== dirname(target)) syncFolder(dirname(source))
}

/** A folder from outside, which must lie in the workspace. */
function rootOf(workspace: string, dir: string): string {
  const hint = 'Name a folder in the workspace that has folders such as to_execute and in_progress.'
  const wanted = resolve(workspace, dir)
  const found = lstatSync(wanted, { throwIfNoEntry: false })
  if (!found) throw new Problem('not_found', `${dir}: there is no such folder`, hint, { dir })
  const root = realpathSync(wanted)
  const inside = relative(realpathSync(workspace), root)
  if (leaves(inside)) throw new Problem('bad_input', `${dir} leads out of the workspace`, hint, { dir })
  if (!lstatSync(root).isDirectory()) throw new Problem('bad_input', `${dir} is not a folder`, hint, { dir })
  if ((TASK_STATES as readonly string[]).includes(basename(root)))
    throw new Problem(
      'bad_input',
      `${dir} holds the tasks of one state only`,
      `Name the folder above it: ${dirname(dir)}.`,
      { dir },
    )
  return root
}

function applied(root: string, tasks: readonly (readonly Step[])[]): { steps: Step[]; stopped: Refusal[] } {
  const steps: Step[] = []
  const stopped: Refusal[] = []
  for (const task of tasks) {
    for (const step of task) {
      const failed = attempt(step.from, () => carryOut(root, step))
      if (failed) {
        stopped.push(failed)
        break
      }
      steps.push(step)
    }
  }
  return { steps, stopped }
}

/** One directory that cannot be read or changed keeps nobody from the others. */
function attempt(from: string, work: () => unknown): Refusal | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return { from, why: `stopped here: ${(error as Error).message}` }
  }
}

function entriesIn(directory: string): Entry[] {
  return readdirSync(directory).map(name => {
    const { size, mtimeMs, ...found } = lstatSync(join(directory, name))
    return { name, size, isFile: (found.mode & constants.S_IFMT) === constants.S_IFREG, written: Math.floor(mtimeMs) }
  })
}

function textOf(path: string): string | undefined {
  try {
    return readText(path)
  } catch {
    return undefined
  }
}

/** More than anybody writes about one task. */
const LARGEST = 16 * 1024 * 1024

/** Of a regular file in UTF-8; throws where there is none. */
function readText(path: string): string {
  const bytes = readBytes(path, LARGEST, 'anyone')
  if (!bytes) throw new Error(`${basename(path)} is not there`)
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

/** Old or new at every instant, and with the same permissions. */
function rewrite(path: string, text: string): void {
  const draft = join(dirname(path), '.punchlist-migration.tmp')
  const before = lstatSync(path, { throwIfNoEntry: false })
  // One that a killed program left.
  removeFile(draft)
  writeDurably(draft, text, before ? before.mode & 0o777 : 0o600)
  moveEntry(draft, path)
  syncFolder(dirname(path))
}

function flag(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !(found.isFile() && found.size === 0))
    throw new Error(`${basename(path)} is there, and is no empty file`)
  if (!found) writeNew(path, '')
  syncFolder(dirname(path))
}
