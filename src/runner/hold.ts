import { Problem } from '../core/problem.ts'
import type { Store } from '../core/store.ts'
import { task } from '../queue/kind.ts'
import type { Task } from '../queue/record.ts'

/** A timer cannot wait for more than 24 days, and takes more than that for nothing. */
const RARELY_MS = 86_400_000

/** Keeps a claim alive while an agent works, and tells when it is lost all the same. */
export class Hold {
  private readonly store: Store
  private readonly claimed: Task
  private readonly leaseMs: number
  private readonly gone = new AbortController()
  private timer: NodeJS.Timeout | undefined
  private stopped = false

  constructor(store: Store, claimed: Task, leaseMs: number) {
    this.store = store
    this.claimed = claimed
    this.leaseMs = leaseMs
    this.again()
  }

  /** Aborted when the task is somebody else's. */
  get lost(): AbortSignal {
    return this.gone.signal
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
  }

  private again(): void {
    this.timer = setTimeout(() => void this.renew(), Math.min(this.leaseMs / 3, RARELY_MS))
  }

  private async renew(): Promise<void> {
    try {
      await this.store.renew(task, this.claimed.id, this.claimed.token, this.leaseMs)
    } catch (error) {
      // A store that does not answer now may do so before the lease has run out.
      if (error instanceof Problem && (error.code === 'lease_lost' || error.code === 'move_refused')) {
        this.gone.abort()
        return
      }
    }
    if (!this.stopped) this.again()
  }
}
