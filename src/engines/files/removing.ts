import { dirname, join, relative } from 'node:path'
import { problemFor } from '../../core/disk.ts'
import type { Note } from '../../core/event.ts'
import { moveEntry, removeFolder } from '../../core/file-entries.ts'
import { makeFolder } from '../../core/files.ts'
import { ofLists } from '../../core/keeping.ts'
import type { Kind } from '../../core/kind.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { Removed } from '../../core/store.ts'
import { formOf, type Tree } from './tree.ts'
import { isUnfinished } from './writing.ts'

type Lists = Readonly<Record<string, string>>

/**
 * Moves the files of lists away, into the workspace's own folder: what was
 * removed by mistake is still there. What else lies beside them stays.
 */
export function removeLists(
  { ledger, tree, root }: { readonly ledger: Ledger; readonly tree: Tree; readonly root: string },
  kind: Kind,
  where: Lists,
  note: Note,
): Removed {
  ofLists(kind, Object.keys(where))
  if (Object.keys(where).length === 0) throw new Error(`Which lists of ${kind.name} are to be removed?`)
  return ledger.together(() => {
    const places = tree.places(kind, where)
    const items = ledger.find(kind, { where })
    for (const item of items) ledger.drop(kind, item, note)
    for (const { folder } of places) for (const { name } of ledger.files(folder)) ledger.forget(folder, name)
    const top = commonFolder(kind, where)
    const stamp = note.at.replace(/\D/g, '').slice(0, 14)
    const trash = join(root, '.punchlist', 'trash', `${top.replaceAll('/', '-')}-${stamp}-${process.pid}`)
    const moves = places
      .flatMap(({ folder }) => ownIn(tree, kind, folder))
      .map(path => ({
        from: tree.path(path),
        to: join(trash, relative(top, path)),
      }))
    if (moves.length === 0) return { count: items.length, to: null }
    moveAll(root, moves)
    for (const { folder } of places) removeEmpty(tree, folder, top)
    return { count: items.length, to: relative(root, trash) }
  })
}

/** The folder that all of these lists are in. */
function commonFolder(kind: Kind, where: Lists): string {
  const { folders } = formOf(kind)
  const depth = folders.findLastIndex(segment => where[segment.slice(1, -1)] !== undefined) + 1
  return folders
    .slice(0, depth)
    .map(segment => where[segment.slice(1, -1)] ?? segment)
    .join('/')
}

/** What belongs to a list: its folder where that is its own; where others have theirs there too, only its files. */
function ownIn(tree: Tree, kind: Kind, folder: string): string[] {
  const form = formOf(kind)
  if (form.folders.at(-1)!.startsWith('{')) return [folder]
  const isOwn = (name: string) => form.isItem(name) || form.beside?.includes(name) || isUnfinished(name)
  return tree
    .files(folder)
    .filter(isOwn)
    .map(name => `${folder}/${name}`)
}

interface Step {
  readonly from: string
  readonly to: string
}

/** All of them, or none. */
function moveAll(root: string, moves: readonly Step[]): void {
  const done: Step[] = []
  for (const { from, to } of moves) {
    try {
      makeFolder(root, dirname(to))
      moveEntry(from, to)
      done.push({ from, to })
    } catch (error) {
      for (const step of done.toReversed()) moveEntry(step.to, step.from)
      throw problemFor(error, from)
    }
  }
}

/** Takes away the folders of a list in which nothing is left, up to the one that was named. */
function removeEmpty(tree: Tree, folder: string, top: string): void {
  for (let path = folder; path === top || path.startsWith(`${top}/`); path = dirname(path)) {
    try {
      removeFolder(tree.path(path))
    } catch {
      // Somebody has something there.
    }
  }
}
