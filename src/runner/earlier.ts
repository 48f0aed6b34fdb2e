import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { thisProcess } from '../core/process.ts'
import { returnTask, unlessReported } from '../queue/claiming.ts'
import { entriesOf } from './diary.ts'
import { isGoingOn } from './going-on.ts'
import type { Run } from './run.ts'

/** Notes that a run is under way, by which process; gives back how to say that it has ended. */
export function underWay(folder: string, name: string): () => void {
  const open = join(folder, 'open')
  mkdirSync(open, { recursive: true, mode: 0o700 })
  // Whole or not there: whoever reads half of it would take the run for killed.
  const draft = join(folder, `${name}.new`)
  writeFileSync(draft, JSON.stringify(thisProcess()), { mode: 0o600 })
  renameSync(draft, join(open, name))
  return () => rmSync(join(open, name), { force: true })
}

/** Gives back at once what runs that were killed on this machine had claimed: nobody waits for their leases. */
export async function settleEarlier({ caller, folder }: Run): Promise<void> {
  const open = join(folder, 'open')
  for (const name of existsSync(open) ? readdirSync(open) : []) {
    if (isGoingOn(folder, name)) continue
    for (const { task, token } of claimsLeftBy(folder, name)) {
      await returnTask(caller, task, token, 'the run that had it was killed').catch(unlessReported)
    }
    rmSync(join(open, name), { force: true })
  }
}

function claimsLeftBy(folder: string, name: string): { task: string; token: number }[] {
  if (!existsSync(join(folder, `${name}.jsonl`))) return []
  const claims = new Map<string, number>()
  for (const entry of entriesOf(folder, name)) {
    if (entry.what === 'claimed') claims.set(entry.task, entry.token)
    if (entry.what === 'ended') claims.delete(entry.task)
  }
  return [...claims].map(([task, token]) => ({ task, token }))
}
