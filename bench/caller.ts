import type { Caller } from '../src/core/operation.ts'
import type { Store } from '../src/core/store.ts'

/** Somebody who asks a store directly, without a workspace around it. */
export function callerOf(store: Store): Caller {
  return {
    store,
    by: 'w',
    scope: { conversationId: 'bench' },
    now: () => new Date(),
    root: '.',
    work: 'tmp',
    queue: null,
    mayRun: async () => false,
    completion: 'self',
  }
}
