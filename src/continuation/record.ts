import type { Item, Kind } from '../core/kind.ts'
import type { Hush } from './judging.ts'

/** What is remembered of one session of a host, or of all: whether it may be sent on, and how that went so far. */
export interface Continuation extends Item {
  readonly status: 'on' | 'off'
  /** The conversation that its plan belongs to; empty for the switch that is for all. */
  readonly conversationId: string
  readonly host: string | null
  readonly injections: number | null
  readonly fruitless: number | null
  readonly unshortened: number | null
  readonly openBefore: number | null
  readonly completedBefore: number | null
  readonly injectedAt: string | null
  readonly hush: Hush | null
  /** When the host said that it is over; empty while it goes on. */
  readonly endedAt: string | null
}

export const continuation: Kind<Continuation> = {
  name: 'continuation',
  table: 'continuations',
  list: ['conversationId'],
  fields: {
    conversationId: 'text',
    host: 'text',
    injections: 'integer',
    fruitless: 'integer',
    unshortened: 'integer',
    openBefore: 'integer',
    completedBefore: 'integer',
    injectedAt: 'text',
    hush: 'text',
    endedAt: 'text',
  },
  lifecycle: {
    initial: ['on', 'off'],
    statuses: {
      on: { phase: 'active', to: ['off'] },
      off: { phase: 'held', to: ['on'] },
    },
  },
}
