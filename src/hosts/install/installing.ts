import { redacted } from '../../core/text.ts'
import { unifiedDiff } from './diff.ts'
import type { Where, Wiring } from './host.ts'
import { type Change, type Plan, planned } from './planning.ts'
import { carryOut } from './writing.ts'

export interface Installed {
  /** Each file and what becomes of it, in the order of writing. */
  readonly files: readonly { readonly file: string; readonly change: 'made' | 'changed' | 'removed' }[]
  readonly diff: string
  readonly notes: readonly string[]
}

/** What init would do. */
export function previewed(wirings: readonly Wiring[], where: Where, remove: boolean): Installed {
  return told(planned(wirings, where, remove))
}

/** Does it. What it has done is told, whatever was previewed: a file may have changed meanwhile. */
export function installed(wirings: readonly Wiring[], where: Where, remove: boolean): Installed {
  return told(carryOut(() => planned(wirings, where, remove)))
}

function told({ changes, notes }: Plan): Installed {
  return {
    files: changes.map(change => ({ file: change.file, change: whatBecomes(change) })),
    // The lines around a change are the user's, keys and tokens among them; a diff ends up in logs.
    diff: redacted(changes.map(({ file, before, after }) => unifiedDiff(file, before, after)).join('\n')),
    notes,
  }
}

function whatBecomes({ before, after }: Change): 'made' | 'changed' | 'removed' {
  if (before === undefined) return 'made'
  return after === undefined ? 'removed' : 'changed'
}
