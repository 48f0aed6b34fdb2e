import { readFileSync } from 'node:fs'
import type { Connection } from './connection.ts'

/** A run of the machine gets so many milliseconds, more than eight years, before the next one's numbers begin. */
const BOOT = 2 ** 38

/**
 * The clock that leases are measured by: milliseconds since the machine was
 * started, the same for every process on it. A wall clock that is set an hour
 * ahead would let one worker steal every fresh lease of the others. Each start
 * of the machine gets numbers above all earlier ones, so that no claim outlives
 * the machine its claimant ran on.
 */
export class LeaseClock {
  private readonly connection: Connection
  private origin: number | undefined
  private ahead = 0

  constructor(connection: Connection) {
    this.connection = connection
  }

  now(): number {
    this.origin ??= this.findOrigin()
    return this.origin + (ON_LINUX ? Number(process.hrtime.bigint() / 1_000_000n) : Date.now())
  }

  /** For people: when that will be by the wall clock. The same time reads the same until the wall clock is set. */
  wall(time: number): string {
    const ahead = Date.now() - this.now()
    if (Math.abs(ahead - this.ahead) > 50) this.ahead = ahead
    return new Date(time + this.ahead).toISOString()
  }

  private findOrigin(): number {
    // Elsewhere a start cannot be told from another without asking a program: the wall clock has to do.
    if (!ON_LINUX) return 0
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const known = () => this.connection.all('SELECT number FROM boots WHERE boot = ?', [boot])[0]?.['number']
    const begun = () => {
      const there = known()
      if (there !== undefined) return there
      this.connection.run('INSERT INTO boots (boot) VALUES (?)', [boot])
      return known()
    }
    // Should the transaction it is asked in be undone, the next to ask gives this run the same number.
    const number = known() ?? (this.connection.isTogether ? begun() : this.connection.together(begun))
    return Number(number) * BOOT
  }
}

const ON_LINUX = process.platform === 'linux'
