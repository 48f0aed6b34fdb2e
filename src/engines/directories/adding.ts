import { pause } from '../../core/clock.ts'
import type { Note } from '../../core/event.ts'
import { type Named, referring } from '../../core/keeping.ts'
import type { Draft, Item, Kind } from '../../core/kind.ts'
import type { Discovery } from '../../core/ledger.ts'
import { phaseOf } from '../../core/lifecycle.ts'
import { refuseParts } from '../../core/parts.ts'
import type { Added } from '../../core/store.ts'
import { appear, type Built, build, disappear } from './building.ts'
import { type Desk, isActive } from './desk.ts'
import { Numbering } from './numbering.ts'
import { formOf } from './reading.ts'
import { justWritten } from './seen.ts'

/** Adds drafts in order: each is built whole where nobody sees it, and then appears in the folder of its status. */
export function add<T extends Item>(desk: Desk, kind: Kind<T>, drafts: readonly Draft[], note: Note): Added<T>[] {
  const { ledger } = desk
  const known = drafts.map(draft => holderOf(desk, kind, draft))
  const first = ({ identity }: Draft, index: number) =>
    identity === undefined ? index : drafts.findIndex(draft => draft.identity === identity)
  const isNew = drafts.map((draft, index) => !known[index] && first(draft, index) === index)
  const numbers = new Numbering(desk, kind)
  let fresh: Named[] = []
  let built: Built[] = []
  let ids: string[] = []
  try {
    const named = drafts.map((draft, index) => (isNew[index] ? numbers.give(draft) : undefined))
    ids = drafts.map((draft, index) => known[index]?.id ?? named[first(draft, index)]!.id)
    fresh = named.flatMap(own => (own ? [referring(kind, own, ids)] : []))
    for (const parent of parentsOf(kind, fresh)) refuseFinished(desk, kind, parent)
    built = fresh.map(own => build(desk, kind, own, own.texts ?? {}))
    for (const own of fresh) desk.records.noteAdded(own.id, { ...note, identity: own.identity })
    appear(desk, built)
  } catch (error) {
    numbers.takeBack()
    throw error
  }
  const twins = tell(desk, kind, fresh, note)
  try {
    for (const parent of parentsOf(kind, fresh)) refuseFinished(desk, kind, parent)
  } catch (error) {
    disappear(desk, built)
    ledger.together(() => {
      for (const { id } of built)
        for (const item of ledger.find(kind, { where: { id } })) ledger.drop(kind, item, { ...note, why: 'refused' })
    }, true)
    throw error
  }
  disappear(
    desk,
    built.filter(({ id }) => twins.has(id)),
  )
  return ids.map((id, index) => ({
    item: ledger.find(kind, { where: { id: twins.get(id) ?? id } })[0]!,
    created: isNew[index]! && !twins.has(id),
  }))
}

function holderOf<T extends Item>({ ledger }: Desk, kind: Kind<T>, { identity }: Draft): T | undefined {
  return identity === undefined ? undefined : ledger.find(kind, { where: { identity } })[0]
}

/** Tells of what was added. By id, those that somebody else has added in the same moment: theirs was first. */
function tell(desk: Desk, kind: Kind, fresh: readonly Named[], note: Note): Map<string, string> {
  const { ledger } = desk
  return ledger.together(() => {
    const held = fresh.map(own => [own.id, holderOf(desk, kind, own)?.id ?? own.id] as const)
    const twins = new Map(held.filter(([id, holder]) => holder !== id))
    const isKnown = (id: string) => ledger.find(kind, { where: { id }, fields: ['status'] }).length > 0
    const unseen = fresh.filter(({ id }) => !twins.has(id) && !isKnown(id))
    ledger.discover(
      kind,
      unseen.map(own => discovery(desk, kind, own, note)),
    )
    return twins
  }, true)
}

/** The items that new ones are parts of. */
function parentsOf({ waits }: Kind, drafts: readonly Named[]): Set<string> {
  const parents = waits ? drafts.map(({ fields }) => (fields[waits.parent] ?? '') as string) : []
  return new Set(parents.filter(Boolean))
}

/** What is finished gets no more parts. Somebody may just be about to say that it is: that is waited for. */
function refuseFinished({ ledger, records }: Desk, kind: Kind, id: string): void {
  for (let attempt = 1; ; attempt++) {
    const [item] = ledger.find(kind, { where: { id } })
    if (item) refuseParts(kind, item)
    const ending = records.of(id).at(-1)
    const decided = ending !== undefined && ['done', 'dropped'].includes(phaseOf(kind.lifecycle, ending.what) ?? '')
    if (!item || !isActive(kind, item.status) || !decided || attempt === 400) return
    pause(5)
  }
}

function discovery(desk: Desk, kind: Kind, own: Named, note: Note): Discovery {
  const { id, title, status, identity = null } = own
  const name = formOf(kind).name({ ...own.fields, id })
  const file = justWritten(desk.root, kind, { id, name, status })
  return { id, fields: { ...own.fields, title, status, identity, token: 0 }, file, note }
}
