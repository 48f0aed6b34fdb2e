import { removeFile } from '../../core/files.ts'
import type { Kind } from '../../core/kind.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { Finding, Unreadable } from '../../core/store.ts'
import type { Tree } from './tree.ts'
import { isUnfinished } from './writing.ts'

/** What is told of files that were looked at. */
export function readability(kind: Kind, count: number, bad: readonly Unreadable[]): Finding {
  const names = bad.slice(0, 5).map(({ file, line, message }) => `${file}:${line} ${message}`)
  return {
    check: `${kind.name} files`,
    ok: bad.length === 0,
    detail: bad.length === 0 ? `${count}, each can be read` : `${bad.length} cannot be read: ${names.join('; ')}`,
    hint: 'Correct them by hand, or move them away; they were left as they are.',
  }
}

/** The files that killed programs left in a kind's folders; with `mend` they are removed. */
export function leftovers(ledger: Ledger, tree: Tree, kind: Kind, mend: boolean): string[] {
  const all = () =>
    tree.places(kind, {}).flatMap(({ folder }) =>
      tree
        .files(folder)
        .filter(isUnfinished)
        .map(name => tree.path(folder, name)),
    )
  if (all().length === 0) return []
  // Nobody writes an item while we hold the lock: what is there now, nobody needs.
  return ledger.together(() => {
    const left = all()
    if (mend) for (const path of left) removeFile(path)
    return left
  })
}
