import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { task } from './kind.ts'
import { readDirectoryName, readTaskId } from './names.ts'
import type { Task } from './record.ts'

/** A task by any of its names. One that is there and cannot be read says so. */
export async function locate(caller: Caller, name: string): Promise<Task> {
  const id = readTaskId(name) ?? name
  const [item] = await caller.store.find(task, { where: { id }, limit: 1 })
  if (item) return item
  const unreadable = await caller.store.unreadable(task, {})
  const file = unreadable.find(({ file: path }) => path.split('/').some(part => readDirectoryName(part)?.id === id))
  if (file) {
    throw new Problem(
      'unreadable_file',
      `${file.file}:${file.line} ${file.message}`,
      'Correct the file by hand; nothing was written to it.',
      { file: file.file, line: file.line },
    )
  }
  throw new Problem(
    'not_found',
    `There is no task ${id}`,
    'List what is there (punchlist queue list --all) and use an id from it.',
    { id },
  )
}

/** Tasks by their ids; absent ones are absent. */
export async function lookUp(caller: Caller, ids: Iterable<string>): Promise<ReadonlyMap<string, Task>> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const found = await caller.store.find(task, { where: { id: wanted } })
  return new Map(found.map(item => [item.id, item]))
}

/** The parts of a task, in the order of their numbers. */
export async function childrenOf(caller: Caller, { id, children }: Task): Promise<Task[]> {
  if (children === 0) return []
  const found = await caller.store.find(task, { where: { parent: id } })
  return found.toSorted((one, other) => one.number - other.number)
}
