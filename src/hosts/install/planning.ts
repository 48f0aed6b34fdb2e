import type { Place } from './holding.ts'
import type { Where, Wiring } from './host.ts'
import { type Originals, originalsFor } from './originals.ts'
import type { Piece } from './piece.ts'
import { refused } from './piece.ts'
import { readPlain } from './place.ts'
import { WIRINGS } from './wirings.ts'

/** How one file would be changed. Undefined: there is no such file. */
export interface Change extends Place {
  readonly before: string | undefined
  readonly after: string | undefined
  /** What others have written there. */
  readonly theirs: string | undefined
  /** What may be done with a file that is made; one that is there keeps what it has. */
  readonly mode: number
}

export interface Plan {
  readonly changes: readonly Change[]
  /** Every file that was looked at. */
  readonly places: readonly Place[]
  readonly originals: Originals
  /** What was left alone, and why. */
  readonly notes: readonly string[]
}

/** Works out every change before anything is written: one file that cannot be read stops them all. */
export function planned(wirings: readonly Wiring[], where: Where, remove: boolean): Plan {
  const pieces = unique(wirings.flatMap(wiring => wiring.pieces(where)))
  const kept = remove ? stillNeeded(wirings, where) : new Set<string>()
  const files = new Map<string, Omit<Change, 'file' | Growing> & { -readonly [Key in Growing]: Change[Key] }>()
  const notes: string[] = []
  for (const piece of pieces) {
    const { root, file, text } = readPlain(piece.root, piece.path)
    // What is the user's own will hold keys, if not ours.
    const mode = where.level === 'user' || piece.root !== where.root ? 0o600 : 0o666
    const state = files.get(file) ?? { root, mode, before: text, after: text, theirs: text }
    try {
      const stands = state.after === undefined ? 'missing' : piece.look(state.after)
      state.theirs = state.theirs === undefined ? undefined : piece.take(state.theirs)
      if (remove && kept.has(identity(piece))) notes.push(`${file}: ${piece.name} is kept, another host needs it`)
      else if (remove) state.after = state.after === undefined ? undefined : piece.take(state.after)
      else state.after = piece.put(state.after)
      if (stands === 'theirs') notes.push(`${file}: ${piece.name} was not written by init and is left as it is`)
    } catch (error) {
      throw refused(file, error)
    }
    files.set(file, state)
  }
  const places = [...files].map(([file, state]) => ({ file, ...state }))
  const changes = places.filter(({ before, after }) => before !== after)
  return { changes, places, originals: originalsFor(where), notes }
}

type Growing = 'after' | 'theirs'

/** Whether a host is wired at a level: the first of its pieces tells. Files that cannot be read tell nothing. */
export function isWired(wiring: Wiring, where: Where): boolean {
  if (!wiring.levels.includes(where.level)) return false
  const [first] = wiring.pieces(where)
  try {
    const { text } = readPlain(first!.root, first!.path)
    return text !== undefined && first!.take(text) !== text
  } catch {
    return false
  }
}

/** What several hosts share stays while one of them is wired. */
function stillNeeded(removed: readonly Wiring[], where: Where): Set<string> {
  const others = WIRINGS.filter(wiring => !removed.includes(wiring) && isWired(wiring, where))
  return new Set(others.flatMap(wiring => wiring.pieces(where)).map(identity))
}

function unique(pieces: readonly Piece[]): Piece[] {
  return [...new Map(pieces.map(piece => [identity(piece), piece])).values()]
}

function identity({ root, path, name }: Piece): string {
  return JSON.stringify([root, path, name])
}
