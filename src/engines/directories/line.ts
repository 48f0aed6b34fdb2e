import { sinceBoot } from '../../core/clock.ts'
import type { Kind } from '../../core/kind.ts'
import type { Query } from '../../core/store.ts'
import type { Desk } from './desk.ts'

/** So many are looked up at first, beside those that were passed. */
const FIRST = 20
/** What was found gone, or taken, is not asked for again so long: it may have come back. */
const PASSED_MS = 250

/**
 * Who comes next, as far as the ledger knows: it does not know yet of what others
 * have just claimed. Whoever claims one after the other goes on in the same line,
 * until somebody has written something that may change it.
 */
export class Line {
  private readonly desk: Desk
  private key = ''
  private version = -1
  private ids: string[] = []
  private isWhole = false
  private readonly passed = new Set<string>()
  private since = -Infinity

  constructor(desk: Desk) {
    this.desk = desk
  }

  *of(kind: Kind, query: Query): Generator<string> {
    this.begin(kind, query)
    for (let next = 0; ; ) {
      for (; next < this.ids.length; next++) {
        const id = this.ids[next]!
        if (!this.passed.has(id)) yield id
      }
      if (this.isWhole) return
      this.look(kind, query, this.ids.length * 4)
      next = 0
    }
  }

  /** It is not next any more, whatever comes of it. */
  pass(id: string): void {
    this.passed.add(id)
  }

  /** Everything is asked for anew. */
  forget(): void {
    this.version = -1
    this.passed.clear()
  }

  private begin(kind: Kind, query: Query): void {
    const key = JSON.stringify([query.where, query.status])
    const now = sinceBoot()
    if (key !== this.key || now - this.since > PASSED_MS) {
      this.passed.clear()
      this.since = now
    }
    const version = this.desk.ledger.version()
    if (key === this.key && version === this.version && this.since !== now) return
    this.key = key
    this.version = version
    this.look(kind, query, FIRST + this.passed.size)
  }

  private look(kind: Kind, query: Query, limit: number): void {
    this.ids = this.desk.ledger.first(kind, { ...query, limit, fields: [] }).map(({ id }) => id)
    this.isWhole = this.ids.length < limit
  }
}
