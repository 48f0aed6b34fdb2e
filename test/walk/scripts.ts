import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { State } from './queue-model.ts'

/** What shell scripts and people do to the files of a workspace, without asking the program. */

const at = (root: string, ...parts: string[]) => join(root, 'coordination', ...parts)

/** `date -u +%Y%m%dT%H%M%S` */
const stamp = () =>
  new Date()
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/[-:]/g, '')

export function carry(root: string, name: string, from: State, to: State): void {
  mkdirSync(at(root, to), { recursive: true })
  renameSync(at(root, from, name), at(root, to, name))
}

export function touchFlag(
  root: string,
  { id, name, state }: { id: string; name: string; state: State },
  kind: 'started' | 'completed',
): void {
  writeFileSync(at(root, state, name, `${id}_${stamp()}_${kind}`), '')
}

export function writeErrorReport(root: string, name: string): void {
  const text = `# Error Report\n**Timestamp:** ${new Date().toISOString()}\n**Error Type:** script\n\n## What Happened\nIt broke.\n\n## What Was Tried\nNothing.\n`
  writeFileSync(at(root, 'in_progress', name, 'error_report.md'), text)
}

/** A task's directory that is made elsewhere on the disk and moved to where workers look. */
export function writeTask(
  root: string,
  id: string,
  { title, dependsOn }: { title: string; dependsOn: readonly string[] },
): string {
  const name = `${id}_by_hand`
  const folder = join(root, 'made', name)
  mkdirSync(folder, { recursive: true })
  const depends = dependsOn.length > 0 ? `**Depends On:** ${dependsOn.join(', ')}\n` : ''
  const head = `# Request #${id.slice(4)}: ${title}\n\n**Type:** Standard\n**Priority:** NORMAL\n**Posted:** ${new Date().toISOString()}\n${depends}`
  writeFileSync(
    join(folder, `${name}.md`),
    `${head}\n## Task Description\n\nBy hand.\n\n## Expected Response\n\nDone.\n`,
  )
  renameSync(folder, at(root, 'to_execute', name))
  return name
}

/** Changes one line the way an editor saves: a new file over the old name. */
export function editLine(path: string, from: RegExp, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (!from.test(text)) throw new Error(`${path} has no line ${from}:\n${text}`)
  writeFileSync(`${path}.edited`, text.replace(from, to))
  renameSync(`${path}.edited`, path)
}

export const taskFile = (root: string, state: State, name: string): string => at(root, state, name, `${name}.md`)

export function rename(path: string, name: string): void {
  renameSync(path, join(dirname(path), name))
}

/** A copy of a todo under another number, as somebody makes one who wants a second of the kind. */
export function copyTodo(path: string, name: string, number: string): void {
  const copy = join(dirname(path), name)
  copyFileSync(path, copy)
  editLine(copy, /^issue_id: .*$/m, `issue_id: "${number}"`)
}
