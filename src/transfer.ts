import * as v from 'valibot'
import { alreadyThere, repeated } from './core/keeping.ts'
import type { Content, Item, Kind } from './core/kind.ts'
import type { Fields } from './core/lifecycle.ts'
import { type Checks, type Command, checked } from './core/operation.ts'
import { Problem } from './core/problem.ts'
import type { Kept, Store } from './core/store.ts'
import { kinds } from './kinds.ts'
import { checkOf, checksIn, distinct } from './plans/checks.ts'
import { listOf, refuseStrange } from './transfer/document-rules.ts'
import { refuseUnstorable } from './transfer/storable.ts'

const happening = v.object({
  at: v.string(),
  from: v.nullable(v.string()),
  to: v.string(),
  by: v.string(),
  why: v.nullable(v.string()),
})

/** Everything a store holds, in a form that every engine can take in. */
const exported = v.object({
  format: v.literal('punchlist'),
  version: v.literal(1),
  items: v.array(
    v.object({
      kind: v.string(),
      id: v.string(),
      token: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 31 - 1)),
      fields: v.record(v.string(), v.unknown()),
      texts: v.record(v.string(), v.string()),
      history: v.array(happening),
    }),
  ),
})

export type Export = v.InferOutput<typeof exported>

const PAGE = 500

/** Reads everything out of a store: items with their texts and what happened to them. Leases stay behind: they are time. */
export async function exportFrom(store: Store): Promise<Export> {
  const items: Export['items'] = []
  for (const kind of kinds) {
    for await (const { id, token, fields, texts, history } of itemsOf(store, kind)) {
      items.push({ kind: kind.name, id, token, fields: { ...fields }, texts: { ...texts }, history: [...history] })
    }
    const [unreadable] = await store.unreadable(kind, {})
    if (unreadable) {
      const { file, line, message } = unreadable
      const hint = 'Correct the file, or move it away, and export again: nothing is left out in silence.'
      throw new Problem('unreadable_file', `${file}:${line} ${message}`, hint, { file, line })
    }
  }
  return { format: 'punchlist', version: 1, items }
}

export interface Imported {
  /** How many items were added. */
  readonly added: number
  /** How many were there already, word for word. */
  readonly known: number
  /** How many check commands came with it that are run only once accepted. */
  readonly checks: number
}

/**
 * Takes an export in, all of it or nothing. What is there already, and the same,
 * is passed over; what differs is refused. Check commands that the store has not
 * got yet are held back, until the user accepts them.
 */
export async function importInto(
  store: Store,
  document: unknown,
  { holdBack }: Pick<Checks, 'holdBack'>,
): Promise<Imported> {
  refuseUnstorable(document)
  const { items } = checked(exported, document)
  const strangers = new Set(items.map(({ kind }) => kind).filter(name => !kinds.some(kind => kind.name === name)))
  if (strangers.size > 0) {
    const hint = 'Update punchlist, and import it then; nothing was written.'
    throw new Problem('newer_schema', `This punchlist has no ${[...strangers].join(', ')}`, hint)
  }
  const batches: { kind: Kind; fresh: Kept[] }[] = []
  const differing: string[] = []
  let known = 0
  for (const kind of kinds) {
    const fresh: Kept[] = []
    for (const { kind: _, ...item } of items.filter(({ kind: name }) => name === kind.name)) {
      refuseStrange(kind, item)
      const [there] = await store.find(kind, { where: { ...listOf(kind, item.fields), id: item.id }, limit: 1 })
      if (!there) fresh.push(item)
      else if (JSON.stringify(await keptFrom(store, kind, there)) === JSON.stringify(item)) known++
      else differing.push(item.id)
    }
    await refuseTwins(store, kind, fresh)
    batches.push({ kind, fresh })
  }
  if (differing.length > 0) {
    throw new Problem(
      'move_refused',
      `${differing.length} items are there already and differ: ${differing.slice(0, 5).join(', ')}`,
      'Import into an empty store, or remove them first; nothing was written.',
      { differing },
    )
  }
  const held = await holdBack(await newChecks(store, batches))
  let added = 0
  for (const { kind, fresh } of batches) {
    if (fresh.length > 0) await store.load(kind, fresh)
    added += fresh.length
  }
  return { added, known, checks: held.length }
}

async function newChecks(
  store: Store,
  batches: readonly { readonly kind: Kind; readonly fresh: readonly Kept[] }[],
): Promise<Command[]> {
  const brought = distinct(
    batches.flatMap(({ kind, fresh }) => fresh.flatMap(({ fields }) => [checkOf(kind.name, fields)].filter(isGiven))),
  )
  if (brought.length === 0) return []
  const there = new Set((await checksIn(store)).map(command => JSON.stringify(command)))
  return brought.filter(command => !there.has(JSON.stringify(command)))
}

function isGiven<T>(value: T | undefined): value is T {
  return value !== undefined
}

/** What could not stand beside something else is found before anything is written: kinds are taken in one after the other. */
async function refuseTwins(store: Store, kind: Kind, items: readonly Kept[]): Promise<void> {
  const identities = items.map(({ fields }) => fields['identity']).filter(identity => typeof identity === 'string')
  const twins = [...repeated(items.map(({ id }) => id)), ...repeated(identities)]
  for (let n = 0; n < identities.length; n += PAGE) {
    const held = await store.find(kind, { where: { identity: identities.slice(n, n + PAGE) } })
    twins.push(...held.map(({ id }) => id))
  }
  if (twins.length > 0) throw alreadyThere(kind, twins)
}

async function* itemsOf(store: Store, kind: Kind): AsyncGenerator<Kept> {
  for (let after: string | undefined; ; ) {
    const page = await store.find(kind, { limit: PAGE, after })
    for (const item of page) yield await keptFrom(store, kind, item)
    after = page.at(-1)?.id
    if (page.length < PAGE) return
  }
}

async function keptFrom(store: Store, kind: Kind, item: Item): Promise<Kept> {
  const all = item as unknown as Fields
  const names = ['title', 'status', 'owner', 'identity', ...Object.keys(kind.fields)]
  const texts = (await store.texts(kind, [item.id], true)).get(item.id) ?? {}
  const events = await store.events({ of: { kind, id: item.id } })
  const history: Content['history'] = events.map(({ at, from, to, by, why }) => ({ at, from, to, by, why }))
  return {
    id: item.id,
    token: item.token,
    fields: Object.fromEntries(names.map(name => [name, all[name] ?? null])),
    texts,
    // A file that tells its own history tells of moves alone.
    history: kind.file?.history ? history.filter(({ from, to }) => from !== to) : history,
  }
}
