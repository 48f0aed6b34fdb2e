import type { Kind } from '../../core/kind.ts'
import type { Ledger } from '../../core/ledger.ts'
import { phaseOf } from '../../core/lifecycle.ts'
import { Batches } from './batches.ts'
import { Hands } from './hands.ts'
import { Keys } from './keys.ts'
import { Records } from './records.ts'
import { Reports } from './reports.ts'
import type { Root } from './root.ts'
import { SealedTexts } from './sealed-texts.ts'
import { Warnings } from './warnings.ts'

/** Everything that those who work on one queue have at hand. */
export interface Desk {
  readonly root: Root
  readonly ledger: Ledger
  readonly hands: Hands
  readonly records: Records
  readonly reports: Reports
  readonly sealedTexts: SealedTexts
  readonly keys: Keys
  readonly batches: Batches
  readonly warnings: Warnings
}

/** What shows that this user has written something. */
export interface Seals {
  /** That of the workspace: the notes of added items carry it. */
  readonly seal?: (() => string | undefined) | undefined
  /** That of the queue, which several workspaces may share: reports carry it, and texts that count only as we wrote them are sealed with it. */
  readonly queueSeal?: (() => string) | undefined
}

export function deskOf(root: Root, ledger: Ledger, { seal, queueSeal }: Seals = {}): Desk {
  return {
    root,
    ledger,
    hands: new Hands(root),
    records: new Records(root, seal),
    reports: new Reports(root, queueSeal),
    sealedTexts: new SealedTexts(root, queueSeal),
    keys: new Keys(root, queueSeal),
    batches: new Batches(root, queueSeal),
    warnings: new Warnings(),
  }
}

export function isWaiting(kind: Kind, status: string): boolean {
  return phaseOf(kind.lifecycle, status) === 'waiting'
}

export function isActive(kind: Kind, status: string): boolean {
  return phaseOf(kind.lifecycle, status) === 'active'
}
