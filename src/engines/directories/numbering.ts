import { readdirSync } from 'node:fs'
import { type Named, numberOf } from '../../core/keeping.ts'
import type { Draft, Kind } from '../../core/kind.ts'
import type { Desk } from './desk.ts'
import { unless } from './problems.ts'
import { formOf } from './reading.ts'

/** Gives numbers above all that were ever given, as far as the ledger and the folders know; taking one is making a folder. */
export class Numbering {
  private readonly desk: Desk
  private readonly kind: Kind
  private readonly last = new Map<string, number>()
  private readonly given: string[] = []
  private highest: Map<string, number> | undefined

  constructor(desk: Desk, kind: Kind) {
    this.desk = desk
    this.kind = kind
  }

  give(draft: Draft): Named {
    const { kind } = this
    const { numbers } = kind
    if (draft.id !== undefined || !numbers) throw new Error(`A ${kind.name} is numbered by its store`)
    const list = JSON.stringify(kind.list.map(field => draft.fields[field]))
    this.highest ??= this.highestThere()
    const known = Math.max(this.desk.ledger.lastNumber(kind, draft.fields), this.highest.get(list) ?? 0)
    for (let number = (this.last.get(list) ?? known) + 1; ; number++) {
      const { id, fields } = numbers.give(draft, number)
      if (!this.desk.records.reserve(id)) continue
      this.last.set(list, number)
      this.given.push(id)
      return { ...draft, id, fields: { ...draft.fields, ...fields } }
    }
  }

  /** Gives back what was given, or only one of it, as nothing was made of it. */
  takeBack(only?: string): void {
    const ids = only === undefined ? this.given.splice(0) : this.given.splice(this.given.indexOf(only), 1)
    for (const id of ids) {
      try {
        this.desk.records.giveUp(id)
      } catch {
        // A number that nobody gets. Why nothing was made of it is what the caller has to know.
      }
    }
  }

  /** By list, the highest number of a directory that others made among what is finished: that is not looked at otherwise. */
  private highestThere(): Map<string, number> {
    const { kind, desk } = this
    const most = new Map<string, number>()
    for (const status of desk.root.statuses) {
      const folder = desk.root.status(status)
      for (const name of unless(['ENOENT'], folder, () => readdirSync(folder)) ?? []) {
        const named = formOf(kind).named(name)
        if ('message' in named) continue
        const list = JSON.stringify(kind.list.map(field => named.fields[field]))
        most.set(list, Math.max(most.get(list) ?? 0, numberOf(kind, named.fields)))
      }
    }
    return most
  }
}
