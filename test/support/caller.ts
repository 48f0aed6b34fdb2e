import { todo } from '../../src/backlog/kind.ts'
import type { Caller } from '../../src/core/operation.ts'
import type { Store } from '../../src/core/store.ts'
import { worklog } from '../../src/worklogs/kind.ts'

/** Somebody who asks a store directly, without a workspace around it. */
export function callerOf(store: Store, more: Partial<Caller> = {}): Caller {
  return {
    store,
    by: 'w',
    scope: { conversationId: 'default' },
    authority: async () => ({ who: 'program', tasks: [] }),
    now: () => new Date(),
    root: '.',
    here: '.',
    work: 'tmp',
    queue: 'coordination',
    inFiles: false,
    checks: { mayRun: async () => false, accept: async () => {}, holdBack: async commands => commands },
    seal: () => 'seal',
    completion: 'self',
    planSettings: {},
    documents: { read: async () => undefined, write: async () => {}, hindrance: async () => undefined },
    wards: { commands: [], mayRun: async () => false },
    continuation: {},
    sessional: async () => [todo, worklog],
    warnings: () => [],
    ...more,
  }
}
