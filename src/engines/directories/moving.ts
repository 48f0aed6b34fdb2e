import type { Note } from '../../core/event.ts'
import { whyNot } from '../../core/keeping.ts'
import type { Item, Kind, Texts } from '../../core/kind.ts'
import type { Change } from '../../core/store.ts'
import { bringBack } from './astray.ts'
import { repair } from './damage.ts'
import { type Desk, isWaiting } from './desk.ts'
import { entriesIn, formOf, nameOf, reader } from './reading.ts'
import { syncFolder } from './root.ts'
import { justWritten } from './seen.ts'
import { hasFlagLike, putTexts, removeFlags, touchFlag } from './writing.ts'

/** Moves an item that nobody works on: whoever takes its directory first does what they want with it. */
export function moveIdle<T extends Item>(
  desk: Desk,
  kind: Kind<T>,
  item: T,
  change: Change,
  note: Note,
  known: Texts | undefined,
): T {
  const { hands, root, ledger } = desk
  const form = formOf(kind)
  const { id, status: from } = item
  const to = String(change.fields['status'])
  root.makeStatus(to)
  const held = hands.take(from, nameOf(kind, item))
  if (!held) throw whyNot(kind, item, { id })
  try {
    const { name, path } = held
    putTexts(root, kind, { directory: path, name }, change.texts ?? {}, known)
    const entries = entriesIn(path) ?? []
    if (isWaiting(kind, to)) removeFlags(path, form.evidence(id, entries, reader(path)).claims)
    const flag = form.flag(id, to, note.at)
    const names = entries.map(entry => entry.name)
    if (flag !== undefined && !hasFlagLike(names, flag)) touchFlag(path, flag)
    syncFolder(path)
    // In one transaction: whoever looks meanwhile waits for it, and does not take the move for somebody else's.
    const saved = ledger.together(() => {
      hands.put(held, to)
      return follow(desk, kind, item, held.name, change, note)
    }, true)
    syncFolder(root.status(to))
    syncFolder(root.status(from))
    return saved
  } catch (error) {
    hands.putBack(held)
    throw error
  }
}

/** Tells of it, unless somebody who looked was faster; they may have claimed it already. */
function follow<T extends Item>(desk: Desk, kind: Kind<T>, item: T, name: string, change: Change, note: Note): T {
  const { root, ledger } = desk
  const { id, status: from } = item
  const to = String(change.fields['status'])
  const [row] = ledger.find(kind, { where: { id } })
  if (row && row.revision !== item.revision && (row.status === to || row.token > item.token)) return row
  const saved = ledger.save(kind, { id, from, fields: change.fields }, note)
  ledger.remember(kind, [justWritten(root, kind, { id, name, status: to })])
  return saved
}

/** Changes what an item says where it lies. */
export function amend<T extends Item>(
  desk: Desk,
  kind: Kind<T>,
  item: T,
  change: Change,
  note: Note,
  known: Texts | undefined,
): T {
  const { records, root, ledger } = desk
  const { id, status } = item
  const { token, texts = {}, fields } = change
  const lost = () => whyNot(kind, item, { id, token: token!, renewing: true })
  const held = () => token === undefined || records.holds(id, token)
  const name = nameOf(kind, item)
  const directory = root.status(status, name)
  if (Object.keys(texts).length > 0) {
    if (!held()) throw lost()
    bringBack(desk, kind, item)
    repair(desk, kind, item)
    const undo = putTexts(root, kind, { directory, name }, texts, known)
    // Somebody may have taken the item over while it was written: then it is as if it had not been.
    if (!held()) {
      undo()
      throw lost()
    }
    syncFolder(directory)
  }
  return ledger.together(() => {
    const saved = ledger.save(kind, { id, from: status, fields }, note)
    ledger.remember(kind, [justWritten(root, kind, { id, name, status })])
    return saved
  }, true)
}
