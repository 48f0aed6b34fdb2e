import { pause } from '../../core/clock.ts'
import type { Note } from '../../core/event.ts'
import { type Named, referring } from '../../core/keeping.ts'
import type { Draft, Item, Kind } from '../../core/kind.ts'
import type { Discovery } from '../../core/ledger.ts'
import { phaseOf } from '../../core/lifecycle.ts'
import { refuseParts } from '../../core/parts.ts'
import { Problem } from '../../core/problem.ts'
import type { Added } from '../../core/store.ts'
import { appear, type Built, build, buildAll, disappear } from './building.ts'
import { type Desk, isActive } from './desk.ts'
import type { Reservation } from './keys.ts'
import type { Looker } from './look.ts'
import { Numbering } from './numbering.ts'
import { formOf } from './reading.ts'
import { justWritten } from './seen.ts'

/**
 * Adds drafts in order: each is built whole where nobody sees it, and then appears in the folder of its status. From then
 * on they are added: what cannot be written down about them is a warning.
 */
export function add<T extends Item>(
  desk: Desk,
  looker: Looker,
  kind: Kind<T>,
  drafts: readonly Draft[],
  note: Note,
): Added<T>[] {
  const { ledger, keys, warnings } = desk
  const known = drafts.map(draft => holderOf(desk, kind, draft))
  const first = ({ identity }: Draft, index: number) =>
    identity === undefined ? index : drafts.findIndex(draft => draft.identity === identity)
  const isNew = drafts.map((draft, index) => !known[index] && first(draft, index) === index)
  const reserved: Reservation[] = []
  const numbers = new Numbering(desk, kind)
  let fresh: Named[] = []
  let built: Built[] = []
  let ids: string[] = []
  try {
    const named = drafts.map((draft, index) => (isNew[index] ? numbers.give(draft) : undefined))
    // In one order for all: two who add the same keys in another order would wait for each other.
    const keyed = named.flatMap((own, index) => (own?.identity === undefined ? [] : [{ own, index }]))
    for (const { own, index } of keyed.toSorted((one, other) => (one.own.identity! < other.own.identity! ? -1 : 1))) {
      const got = keys.reserve(own.identity!, own.id, id => isThere(desk, looker, kind, id))
      if ('path' in got) reserved.push(got)
      else {
        numbers.takeBack(own.id)
        known[index] = ledger.find(kind, { where: { id: got.holder } })[0]!
        isNew[index] = false
        named[index] = undefined
      }
    }
    ids = drafts.map((draft, index) => (known[index] ?? known[first(draft, index)] ?? named[first(draft, index)]!).id)
    fresh = named.flatMap(own => (own ? [referring(kind, own, ids)] : []))
    for (const parent of parentsOf(kind, fresh)) refuseFinished(desk, kind, parent)
    built = buildAll(fresh, own => build(desk, kind, own, own.texts ?? {}))
    for (const own of fresh) desk.records.noteAdded(own.id, { ...note, identity: own.identity })
    for (const one of reserved) keys.refuseTakenOver(one)
    appear(desk, built)
  } catch (error) {
    for (const one of reserved) keys.giveUp(one)
    numbers.takeBack()
    throw error
  }
  for (const one of reserved) keys.keep(one)
  const told = () => tell(desk, kind, fresh, note)
  const twins = warnings.unlessHindered(desk.root.top, LATER, told, () => new Map<string, string>())
  try {
    for (const parent of parentsOf(kind, fresh)) refuseFinished(desk, kind, parent)
  } catch (error) {
    // Whether the parent has ended meanwhile could not be asked.
    if (!(error instanceof Problem) || error.code !== 'move_refused') {
      warnings.add(desk.root.top, `${LATER}: ${(error as Error).message}`)
      return answered()
    }
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
  return answered()

  function answered(): Added<T>[] {
    return ids.map((id, index) => ({
      item: known[index] ?? itemOf(desk, kind, twins.get(id) ?? id, fresh),
      created: isNew[index]! && !twins.has(id),
    }))
  }
}

const LATER = 'added; it is not in the index yet, and the next command takes it in'

/** An item that has been added, as the ledger has it; as it was drafted where the ledger has not. */
function itemOf<T extends Item>(
  { ledger, root, warnings }: Desk,
  kind: Kind<T>,
  id: string,
  fresh: readonly Named[],
): T {
  const find = () => ledger.find(kind, { where: { id } })[0]
  const found = warnings.unlessHindered(root.top, LATER, find, () => undefined)
  const own = fresh.find(one => one.id === id)
  if (found || !own) return found!
  const empty = Object.fromEntries(Object.keys(kind.fields).map(field => [field, null]))
  const { title, status, identity = null, fields } = own
  const common = { id, title, status, identity, owner: null, token: 0, leaseUntil: null, revision: 1 }
  return { ...empty, ...fields, ...common } as unknown as T
}

/** Whether an item is there, be it on its way from one folder to another. */
function isThere({ ledger, hands, root }: Desk, looker: Looker, kind: Kind, id: string): boolean {
  for (let attempt = 1; attempt <= 3; attempt++) {
    looker.lookOnce(kind, id)
    if (ledger.find(kind, { where: { id }, fields: ['status'] }).length > 0) return true
    if (hands.all().some(hand => root.isNameOf(id, hand.name))) pause(5)
  }
  return false
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
