import { listKey, numberOf } from '../../core/keeping.ts'
import type { Draft, Item, Kind } from '../../core/kind.ts'
import type { Added } from '../../core/store.ts'

/**
 * The last numbers that this process has seen given, by list. Whoever adds to a
 * list alone guesses the next ones right, and need not ask for them first.
 */
export class LastNumbers {
  private readonly known = new Map<string, number>()

  /** The last number of the list that drafts go to, where they can be added by that alone. */
  expected(kind: Kind, drafts: readonly Draft[]): number | undefined {
    const keys = new Set(drafts.map(draft => keyOf(kind, draft)))
    const plain = drafts.every(({ id, identity }) => id === undefined && identity === undefined)
    return plain && !kind.place && keys.size === 1 && !refers(kind, drafts) ? this.known.get([...keys][0]!) : undefined
  }

  keep(kind: Kind, added: readonly Added<Item>[]): void {
    if (this.known.size > 1000) this.known.clear()
    for (const { item, created } of added) {
      const fields = { ...item }
      if (created) this.known.set(keyOf(kind, { fields }), numberOf(kind, fields))
    }
  }

  forget(kind: Kind, draft: Draft): void {
    this.known.delete(keyOf(kind, draft))
  }
}

function keyOf(kind: Kind, { fields }: Pick<Draft, 'fields'>): string {
  return `${kind.name} ${listKey(kind, fields)}`
}

/** Whether drafts wait for something, or are parts of something that waits for them. */
function refers({ waits }: Kind, drafts: readonly Draft[]): boolean {
  if (!waits) return false
  return drafts.some(({ fields: { [waits.on]: on, [waits.parent]: parent } }) => {
    return Boolean(parent) || (Array.isArray(on) && on.length > 0)
  })
}
