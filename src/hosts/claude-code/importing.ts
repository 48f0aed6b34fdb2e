import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readRegular } from '../../core/files.ts'
import type { Caller } from '../../core/operation.ts'
import { Problem } from '../../core/problem.ts'
import { planItem } from '../../plans/record.ts'
import type { HostTask } from '../event.ts'
import { mirror } from '../mirroring.ts'
import { record, text } from '../reading.ts'
import { claudeCode, STATUSES } from './hook.ts'

const LARGEST = 16 * 1024 * 1024

interface SessionTasks {
  readonly session: string
  readonly tasks: readonly HostTask[]
}

/**
 * Takes in what Claude Code has kept in its own lists, one folder for each
 * session: the tasks of this workspace's sessions, or those of the one session
 * whose folder is named. Each becomes the plan of its session.
 */
export async function importTasks(
  folder: string,
  root: string,
  callerFor: (conversationId: string) => Caller,
): Promise<{ added: number; known: number }> {
  const sessions = sessionsIn(folder, root)
  let added = 0
  let known = 0
  for (const { session, tasks } of sessions) {
    const caller = callerFor(session)
    const names = tasks.map(({ key }) => `${claudeCode.name}:${key}`)
    const present = await caller.store.find(planItem, { where: { conversationId: session, mirrors: names } })
    const there = new Set(present.map(({ mirrors }) => mirrors))
    const fresh = tasks.filter((_, index) => !there.has(names[index]!))
    await mirror(caller, claudeCode, fresh, false)
    added += fresh.length
    known += tasks.length - fresh.length
  }
  return { added, known }
}

function sessionsIn(folder: string, root: string): SessionTasks[] {
  const own = tasksIn(folder)
  if (own.length > 0) return [{ session: basename(resolve(folder)), tasks: own }]
  const names = readdirSync(folder).filter(name => isFolder(join(folder, name)))
  const here = names.filter(session => belongs(session, folder, root))
  const found = here.map(session => ({ session, tasks: tasksIn(join(folder, session)) }))
  if (found.some(({ tasks }) => tasks.length > 0)) return found
  throw new Problem(
    'not_found',
    `${folder} has no tasks of sessions in ${root}`,
    names.length > 0
      ? 'Name the folder of one session in it to take that one in.'
      : 'Name the folder that Claude Code keeps its tasks in.',
    { folder },
  )
}

/** Claude Code keeps the transcript of a session in a folder that is named after the project's. */
function belongs(session: string, folder: string, root: string): boolean {
  const project = root.replace(/[^a-zA-Z0-9]/g, '-')
  return existsSync(join(dirname(resolve(folder)), 'projects', project, `${session}.jsonl`))
}

function tasksIn(folder: string): HostTask[] {
  const files = readdirSync(folder).filter(name => /^\d{1,9}\.json$/.test(name))
  return files
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .flatMap(name => taskIn(join(folder, name)))
}

function taskIn(file: string): HostTask[] {
  if (!lstatSync(file).isFile()) return []
  const { id, subject, description, status } = parsed(file)
  const key = text(id)
  const title = text(subject)
  const known = STATUSES.get(status)
  return key === undefined || title === undefined || !known
    ? []
    : [{ key, title, context: text(description), status: known }]
}

function parsed(file: string): Readonly<Record<string, unknown>> {
  try {
    return record(JSON.parse(readRegular(file, LARGEST, 'anyone') ?? ''))
  } catch (error) {
    throw new Problem(
      'unreadable_file',
      `${file} cannot be read: ${(error as Error).message}`,
      'Mend or remove it; nothing was taken in.',
      {
        file,
      },
    )
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path).isDirectory()
}
