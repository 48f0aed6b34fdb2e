import type { Note } from '../../core/event.ts'
import { whyNot } from '../../core/keeping.ts'
import type { Item, Kind, Texts } from '../../core/kind.ts'
import { Problem } from '../../core/problem.ts'
import type { Change } from '../../core/store.ts'
import { bringBack } from './astray.ts'
import { repair } from './damage.ts'
import { type Desk, isWaiting } from './desk.ts'
import { isTaken } from './leaving.ts'
import { inTheWay } from './problems.ts'
import { entriesIn, formOf, nameOf, reader } from './reading.ts'
import { syncFolder } from './root.ts'
import { justWritten } from './seen.ts'
import { hasFlagLike, putTexts, removeFlags, touchFlag, type Written } from './writing.ts'

/** Moves an item that nobody works on: whoever takes its directory first does what they want with it. */
export function moveIdle<T extends Item>(
  desk: Desk,
  kind: Kind<T>,
  item: T,
  change: Change,
  note: Note,
  known: Texts | undefined,
): T {
  const { hands, root, ledger, warnings } = desk
  const form = formOf(kind)
  const { id, status: from } = item
  const to = String(change.fields['status'])
  root.makeStatus(to)
  if (isTaken(desk, nameOf(kind, item), from, to)) throw inTheWay(nameOf(kind, item), from, to)
  const held = hands.take(from, nameOf(kind, item))
  if (!held) throw whyNot(kind, item, { id })
  const { name, path } = held
  let written: Written | undefined
  const flagged: string[] = []
  let isThere = false
  const moved = () => {
    written = putTexts(root, kind, { directory: path, name }, change.texts ?? {}, known)
    const entries = entriesIn(path) ?? []
    const flag = form.flag(id, to, note.at)
    const names = entries.map(entry => entry.name)
    if (flag !== undefined && !hasFlagLike(names, flag)) {
      touchFlag(path, flag)
      flagged.push(flag)
    }
    if (isWaiting(kind, to)) removeFlags(path, form.evidence(id, entries, reader(path)).claims)
    syncFolder(path)
    // In one transaction: whoever looks meanwhile waits for it, and does not take the move for somebody else's.
    return ledger.together(() => {
      hands.put(held, to)
      isThere = true
      return follow(desk, kind, item, name, change, note)
    }, true)
  }
  try {
    return settled(moved())
  } catch (error) {
    if (isThere && error instanceof Problem) {
      warnings.add(root.status(to, name), `moved from ${from}; the index does not say so yet: ${error.message}`)
      return settled({ ...item, ...change.fields, revision: item.revision + 1 })
    }
    written?.takeBack()
    undone(path, flagged)
    hands.putBack(held)
    throw error
  }

  /** What is left to do once it lies where it belongs. */
  function settled(saved: T): T {
    written?.keep()
    for (const status of [to, from])
      warnings.unlessHindered(
        root.status(status),
        'moved; that may not survive a power cut',
        () => syncFolder(root.status(status)),
        () => undefined,
      )
    return saved
  }
}

/** Takes flags away that tell of what did not happen. */
function undone(path: string, flags: readonly string[]): void {
  try {
    removeFlags(path, flags)
  } catch {
    // What made the move fail fails this, too; `recover` and `doctor` name a flag that does not fit.
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
  const { records, root, ledger, warnings } = desk
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
    const written = putTexts(root, kind, { directory, name }, texts, known)
    try {
      // Somebody may have taken the item over while it was written: then it is as if it had not been.
      if (!held()) throw lost()
      syncFolder(directory)
    } catch (error) {
      written.takeBack()
      throw error
    }
    written.keep()
  }
  const told = () =>
    ledger.together(() => {
      const saved = ledger.save(kind, { id, from: status, fields }, note)
      ledger.remember(kind, [justWritten(root, kind, { id, name, status })])
      return saved
    }, true)
  // What has no text is in the ledger alone.
  if (Object.keys(texts).length === 0) return told()
  const untold = () => ({ ...item, ...fields, revision: item.revision + 1 })
  return warnings.unlessHindered(directory, 'written; the index does not say so yet', told, untold)
}
