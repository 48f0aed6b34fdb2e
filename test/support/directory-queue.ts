import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { claim, move } from '../../src/core/move.ts'
import type { Store } from '../../src/core/store.ts'
import { task } from '../../src/queue/kind.ts'
import type { Task } from '../../src/queue/record.ts'
import { taskDraft } from './tasks.ts'

export const QUEUE = 'coordination'
const STATES = ['staged', 'to_execute', 'in_progress', 'completed', 'error', 'cancelled']

export const stamp = (by = 'tester') => ({ by, at: new Date().toISOString() })

/** Adds tasks to be executed, and says which. */
export async function addTasks(store: Store, ...titles: readonly string[]): Promise<Task[]> {
  const drafts = titles.map(title => taskDraft(title))
  return (await store.insert(task, drafts, stamp())).map(({ item }) => item)
}

export async function claimTask(store: Store, by: string, leaseMs = 60_000, id?: string): Promise<Task | undefined> {
  const where = { blockers: 0, targetWorker: ['', by] }
  return await claim(store, task, {
    id,
    where: id === undefined ? where : {},
    to: 'in_progress',
    leaseMs,
    ...stamp(by),
  })
}

export async function endTask(
  store: Store,
  { id, token }: Pick<Task, 'id' | 'token'>,
  to: string,
  by = 'w',
): Promise<Task> {
  const texts = to === 'error' ? () => ({ 'error_report.md': '# Error Report\n' }) : undefined
  return await move(store, task, { id, to, token, texts, ...stamp(by) })
}

/** Where each directory of a task lies, those in somebody's hands too. */
export function placesOf(root: string): Record<string, string[]> {
  const places: Record<string, string[]> = {}
  for (const state of STATES) {
    const folder = join(root, QUEUE, state)
    for (const name of existsSync(folder) ? readdirSync(folder) : []) (places[name] ??= []).push(state)
  }
  const hands = join(root, QUEUE, '.punchlist/private')
  for (const entry of existsSync(hands) ? readdirSync(hands) : []) (places[entry.split('~')[0]!] ??= []).push('private')
  return places
}

/** What is left over in our own folders, which should be nothing once everything is put right. */
export function leftovers(root: string): string[] {
  return ['private', 'new', 'reports'].flatMap(folder => readdirSync(join(root, QUEUE, '.punchlist', folder)))
}
