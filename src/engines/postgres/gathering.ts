import type { Kind } from '../../core/kind.ts'
import type { Change } from '../../core/store.ts'
import type { Wish } from './changing.ts'
import type { Row } from './connection.ts'

/** How many statements are under way before what comes next is gathered. */
const UNDER_WAY = 2

/** How many changes go together at most. */
const MOST = 500

type Rows = ReadonlyMap<Change, Row>

/**
 * Gathers the changes of many workers of one process while others are under
 * way, and makes them together: each commit waits for the disk, and for
 * sixteen workers one is enough. Whoever is alone is sent at once.
 */
export class Gathering {
  private readonly make: (kind: Kind, wishes: readonly Wish[]) => Promise<Rows>
  private readonly waiting = new Map<Kind, Asked[]>()
  private underWay = 0

  constructor(make: (kind: Kind, wishes: readonly Wish[]) => Promise<Rows>) {
    this.make = make
  }

  async save(kind: Kind, wishes: readonly Wish[]): Promise<Rows> {
    if (this.underWay < UNDER_WAY) return await this.send(kind, wishes)
    const { promise, resolve, reject } = Promise.withResolvers<Rows>()
    const others = this.waiting.get(kind)
    const asked = { wishes, resolve, reject }
    if (others) others.push(asked)
    else this.waiting.set(kind, [asked])
    return await promise
  }

  private async send(kind: Kind, wishes: readonly Wish[]): Promise<Rows> {
    this.underWay++
    try {
      return await this.make(kind, wishes)
    } finally {
      this.underWay--
      this.next()
    }
  }

  private next(): void {
    const [first] = this.waiting
    if (!first || this.underWay >= UNDER_WAY) return
    const [kind, asked] = first
    const together: Asked[] = []
    const ids = new Set<string>()
    let size = 0
    // What is about the same item goes one after the other, as it would have otherwise.
    for (const one of asked) {
      size += one.wishes.length
      if (together.length > 0 && (size > MOST || one.wishes.some(({ change }) => ids.has(change.id)))) break
      for (const { change } of one.wishes) ids.add(change.id)
      together.push(one)
    }
    if (together.length === asked.length) this.waiting.delete(kind)
    else asked.splice(0, together.length)
    void this.sendAll(kind, together)
  }

  private async sendAll(kind: Kind, together: readonly Asked[]): Promise<void> {
    try {
      const rows = await this.send(
        kind,
        together.flatMap(({ wishes }) => wishes),
      )
      for (const { resolve } of together) resolve(rows)
    } catch (error) {
      const [only] = together
      if (together.length === 1) only!.reject(error)
      // What is wrong with one must not keep the others from being made.
      else await Promise.all(together.map(one => this.sendAll(kind, [one])))
    }
  }
}

interface Asked {
  readonly wishes: readonly Wish[]
  readonly resolve: (rows: Rows) => void
  readonly reject: (error: unknown) => void
}
