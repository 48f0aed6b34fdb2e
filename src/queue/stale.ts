import type { Caller } from '../core/operation.ts'
import { task } from './kind.ts'

/** A claim that was not renewed for so long, and cannot lapse because it has no lease, looks abandoned. */
const QUIET_MS = 30 * 60_000

export interface Stale {
  readonly id: string
  readonly owner: string | null
  readonly since: string | null
  readonly what: string
}

/** Tasks in progress that nobody holds a lease on, and that nobody has written to for a while. They are reported, not taken away. */
export async function staleTasks(caller: Caller): Promise<Stale[]> {
  const claimed = await caller.store.find(task, { status: ['in_progress'] })
  const bare = claimed.filter(({ leaseUntil }) => leaseUntil === null)
  const written = await caller.store.activity(
    task,
    bare.map(({ id }) => id),
  )
  const now = caller.now().getTime()
  return bare.flatMap(({ id, owner, startedAt }) => {
    const since = written.get(id) ?? startedAt
    if (since !== null && now - Date.parse(since) < QUIET_MS) return []
    const what = 'claimed without a lease, by a script perhaps, and quiet for half an hour or more'
    return [{ id, owner, since, what }]
  })
}
