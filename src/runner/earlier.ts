import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { returnTask, unlessReported } from '../queue/claiming.ts'
import { task } from '../queue/kind.ts'
import { entriesOf } from './diary.ts'
import { isGoingOn, thisRunner } from './going-on.ts'
import type { Run } from './run.ts'

/** What a run leaves where others find it while it is under way. */
interface Sign {
  /** The names of its workers, where nobody else can have them: what is claimed in them is its own. */
  readonly workers: readonly string[]
  /** To the second: a flag tells no more. */
  readonly since: string
}

/** Notes that a run is under way, by which process; gives back how to say that it has ended. */
export function underWay(folder: string, name: string, sign: Sign): () => void {
  const open = join(folder, 'open')
  mkdirSync(open, { recursive: true, mode: 0o700 })
  // Whole or not there: whoever reads half of it would take the run for killed.
  const draft = join(folder, `${name}.new`)
  writeFileSync(draft, JSON.stringify({ ...thisRunner(), ...sign }), { mode: 0o600 })
  renameSync(draft, join(open, name))
  return () => rmSync(join(open, name), { force: true })
}

/** Gives back at once what runs that were killed on this machine had claimed: nobody waits for their leases. */
export async function settleEarlier({ caller, folder, logbook }: Run): Promise<void> {
  const open = join(folder, 'open')
  const all = existsSync(open) ? readdirSync(open) : []
  const dead = all.filter(name => !isGoingOn(folder, name))
  const atWork = new Set(all.filter(name => !dead.includes(name)).flatMap(name => signOf(folder, name).workers))
  const giveBack = async (id: string, token: number) =>
    await returnTask(caller, id, token, 'the run that had it was killed').catch(unlessReported)
  for (const name of dead) {
    for (const [id, token] of claimsLeftBy(folder, name)) await giveBack(id, token)
    // It may have been killed between a claim and the account of it.
    const { workers, since } = signOf(folder, name)
    const owner = workers.filter(worker => !atWork.has(worker))
    const left = owner.length > 0 ? await caller.store.find(task, { where: { owner }, status: ['in_progress'] }) : []
    for (const { id, token, startedAt } of left) if ((startedAt ?? '') >= since) await giveBack(id, token)
    await logbook.interrupted(owner)
    rmSync(join(open, name), { force: true })
  }
}

function signOf(folder: string, name: string): Sign {
  try {
    const { workers, since } = JSON.parse(readFileSync(join(folder, 'open', name), 'utf8')) as Partial<Sign>
    return { workers: workers ?? [], since: since ?? '' }
  } catch {
    // It has ended meanwhile, or what it left cannot be read.
    return { workers: [], since: '' }
  }
}

function claimsLeftBy(folder: string, name: string): Map<string, number> {
  const claims = new Map<string, number>()
  if (!existsSync(join(folder, `${name}.jsonl`))) return claims
  for (const entry of entriesOf(folder, name)) {
    if (entry.what === 'claimed') claims.set(entry.task, entry.token)
    if (entry.what === 'ended') claims.delete(entry.task)
  }
  return claims
}
