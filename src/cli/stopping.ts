import { milliseconds } from '../core/input.ts'

/** Why a turn ends before it has ended by itself. */
export class Stop {
  readonly signal: AbortSignal
  /** The time it had, where that is over. */
  late: string | undefined
  /** The signal of the system that ended it. */
  by: keyof typeof Stop.STATUS | undefined
  private readonly controller = new AbortController()
  private readonly timer: NodeJS.Timeout | undefined

  static readonly STATUS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

  constructor(timeout: string | undefined) {
    this.signal = this.controller.signal
    for (const name of SIGNALS) process.once(name, this.stopped)
    if (timeout === undefined) return
    const end = () => {
      this.late = timeout
      this.controller.abort(new Error(`the time is over: ${timeout}`))
    }
    // Longer ones would be over at once.
    this.timer = setTimeout(end, Math.min(milliseconds(timeout), 2 ** 31 - 1))
  }

  over(): void {
    clearTimeout(this.timer)
    for (const name of SIGNALS) process.off(name, this.stopped)
  }

  private readonly stopped = (name: NodeJS.Signals): void => {
    this.by ??= name as keyof typeof Stop.STATUS
    this.controller.abort(new Error(`stopped by ${name}`))
  }
}

const SIGNALS = Object.keys(Stop.STATUS) as (keyof typeof Stop.STATUS)[]
