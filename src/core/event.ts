/** Who did something, when, and why: what a caller adds to a write. */
export interface Note {
  readonly by: string
  /** ISO time, UTC. */
  readonly at: string
  readonly why?: string | undefined
}

/**
 * One thing that happened to one item. Events are written in the transaction
 * of what they tell of, never changed, and read in the order of `seq`: whoever
 * has seen everything up to a number goes on from that number.
 */
export interface Event {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly id: string
  readonly title: string
  /** null when the item was created; the same as `to` when it changed without a move. */
  readonly from: string | null
  readonly to: string
  readonly by: string
  readonly why: string | null
  /** The item's revision after this event: orders the events of one item. */
  readonly revision: number
  /** The fencing token in force, 0 before the first claim. */
  readonly token: number
}
