import type { Host, Reply, Told } from '../hosts/event.ts'
import { replyTo } from '../hosts/hook.ts'
import { StoreDoor } from '../open.ts'
import type { Workspace } from '../workspace.ts'
import { callerFor } from './scope.ts'

/** How long a hook waits for another process that is writing: a host waits for the hook. */
const BUSY_MS = 2_000

interface Heard {
  readonly host: Host
  readonly told: Told
  readonly by: string
  readonly folder: string
  readonly hasStore: boolean
}

/** Answers an event from the list of a workspace. Only events that need the list load this file. */
export async function replyFrom(workspace: Workspace, { host, told, by, folder, hasStore }: Heard): Promise<Reply> {
  const door = new StoreDoor(workspace, { busyMs: BUSY_MS })
  const mayOpen = hasStore || told.event.type === 'listed'
  try {
    return await replyTo(host, told, conversationId =>
      callerFor({ wish: { cwd: folder }, by, scope: { conversationId } }, workspace, door, mayOpen, 'program'),
    )
  } finally {
    await door.close()
  }
}
