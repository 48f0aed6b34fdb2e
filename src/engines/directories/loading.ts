import { alreadyThere, repeated } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type { Kept } from '../../core/store.ts'
import { appear, type Built, build, buildAll, disappear } from './building.ts'
import { type Desk, isActive, isWaiting } from './desk.ts'
import { impliedFlags } from './implied.ts'
import { newLease } from './lease.ts'
import { linkFromParent } from './leaving.ts'
import { entriesIn, formOf, reader, remarkIn } from './reading.ts'
import { justWritten, rememberRemark } from './seen.ts'
import { touchFlag } from './writing.ts'

/** Adds items as another store kept them, all of them or none: their history is in the ledger alone. */
export function load(desk: Desk, kind: Kind, items: readonly Kept[]): void {
  const { ledger } = desk
  for (const item of items) refuseUnlessNamed(kind, item)
  const ids = items.map(({ id }) => id)
  const taken = ids.filter(id => desk.records.isReserved(id))
  if (taken.length > 0 || repeated(ids).length > 0) throw alreadyThere(kind, [...taken, ...repeated(ids)])
  const reserved: string[] = []
  let built: Built[] = []
  let isThere = false
  try {
    built = buildAll(items, kept => {
      const { id, fields, texts, token } = kept
      if (!desk.records.reserve(id)) throw alreadyThere(kind, [id])
      reserved.push(id)
      const identity = fields['identity'] as string | null | undefined
      desk.records.noteAdded(id, { by: 'import', at: new Date().toISOString(), identity })
      desk.sealedTexts.keep(kind, id, texts)
      keepToken(desk, kind, id, fields, token)
      return build(desk, kind, { id, fields, status: String(fields['status']) }, texts, own =>
        setFlags(kind, own, kept),
      )
    })
    ledger.together(() => {
      ledger.load(kind, items)
      appear(desk, built)
      isThere = true
      ledger.remember(
        kind,
        built.map(one => justWritten(desk.root, kind, one)),
      )
      for (const [n, { id, name }] of built.entries()) {
        const remark = remarkIn(kind, name, items[n]!.texts)
        if (remark) rememberRemark(ledger, kind, { id, name, remark })
      }
    })
  } catch (error) {
    try {
      if (isThere) disappear(desk, built)
    } finally {
      for (const id of reserved) desk.records.discard(id)
    }
    throw error
  }
  const linked = () => {
    for (const { id, name } of built) {
      const [item] = ledger.find(kind, { where: { id } })
      if (item) linkFromParent(desk, kind, item, name)
    }
  }
  desk.warnings.unlessHindered(
    desk.root.top,
    'imported; links from parents to their parts are missing',
    linked,
    () => undefined,
  )
}

/** The flags that follow from an item's fields, where those it came with do not tell the same. */
function setFlags(kind: Kind, { path, id }: Built, { fields }: Kept): void {
  const told = formOf(kind).evidence(id, entriesIn(path) ?? [], reader(path)).fields
  for (const { name, field } of impliedFlags(kind, { ...fields, id })) if (told[field] === null) touchFlag(path, name)
}

function refuseUnlessNamed(kind: Kind, { id, fields }: Kept): void {
  const form = formOf(kind)
  const name = form.name({ ...fields, id })
  const named = form.named(name)
  if (!('message' in named) && named.id === id) return
  throw new Problem(
    'bad_input',
    `${kind.name} ${id}: a directory cannot be named "${name.slice(0, 100)}"`,
    'Correct what its name is made of, and import it again; nothing was written.',
    { kind: kind.name, id },
  )
}

/** Claims go on being counted from where they were. */
function keepToken(desk: Desk, kind: Kind, id: string, fields: Fields, token: number): void {
  const status = String(fields['status'])
  const owner = fields['owner'] as string | null | undefined
  const lease = newLease(owner ?? '', new Date().toISOString(), undefined)
  if (isWaiting(kind, status)) {
    if (token > 1) desk.records.write(id, { what: status, token: token - 1 }, lease)
  } else if (token > 0) {
    const held = isActive(kind, status) && (owner ?? null) !== null
    desk.records.write(id, { what: held ? 'lease' : status, token }, lease)
  }
}
