import { isAgent } from '../core/authority.ts'
import { amend } from '../core/move.ts'
import type { Caller } from '../core/operation.ts'
import { type Turn, turn } from './record.ts'

/** Notes that the user has spoken in a turn that goes on. What an agent of a run sends is not the user. */
export async function noteUserSpoke(caller: Caller, of: Turn): Promise<void> {
  if (of.id === '' || (await isAgent(caller))) return
  const at = caller.now().toISOString()
  await amend(caller.store, turn, {
    id: of.id,
    known: of,
    fields: () => ({ spokenAt: at }),
    by: caller.by,
    at,
    why: 'the user has spoken',
  })
}
