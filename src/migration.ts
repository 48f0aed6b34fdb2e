import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import * as v from 'valibot'
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
  if (kind === 'log')
    return rewrite(target, logged(lstatSync(target, { throwIfNoEntry: false }) && readText(target), entry!))
  if (kind === 'flag') return flag(target)
  if (kind === 'remove') {
    unlinkSync(source)
    return sync(dirname(source))
  }
  // rename(2) takes the place of a file, and of an empty directory, without a word.
  if (lstatSync(target, { throwIfNoEntry: false })) throw new Error(`${to} is there already`)
  if (!lstatSync(dirname(target), { throwIfNoEntry: false })) mkdirSync(dirname(target), { mode: 0o700 })
  renameSync(source, target)
  sync(dirname(target))
  if (dirname(source) !== dirname(target)) sync(dirname(source))
}

/** A folder from outside, which must lie in the workspace. */
function rootOf(workspace: string, dir: string): string {
  const hint = 'Name a folder in the workspace that has folders such as to_execute and in_progress.'
  const wanted = resolve(workspace, dir)
  const found = lstatSync(wanted, { throwIfNoEntry: false })
  if (!found) throw new Problem('not_found', `${dir}: there is no such folder`, hint, { dir })
  const root = realpathSync(wanted)
  const inside = relative(realpathSync(workspace), root)
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new Problem('bad_input', `${dir} leads out of the workspace`, hint, { dir })
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

/** Of a regular file in UTF-8; a link is not followed, and a pipe is not waited for. */
function readText(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error(`${basename(path)} is not a regular file`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(descriptor))
  } finally {
    closeSync(descriptor)
  }
}

/** Old or new at every instant, and with the same permissions. */
function rewrite(path: string, text: string): void {
  const draft = join(dirname(path), '.punchlist-migration.tmp')
  const before = lstatSync(path, { throwIfNoEntry: false })
  const descriptor = openSync(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
    0o600,
  )
  try {
    if (before) fchmodSync(descriptor, before.mode & 0o777)
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, path)
  sync(dirname(path))
}

function flag(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !(found.isFile() && found.size === 0))
    throw new Error(`${basename(path)} is there, and is no empty file`)
  if (!found) closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600))
  sync(dirname(path))
}

function sync(directory: string): void {
  const descriptor = openSync(directory, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
