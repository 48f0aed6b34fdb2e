import { digest } from '../core/id.ts'
import { stateFile } from '../core/state-file.ts'
import { hashesIn, keepHashes } from './hashes.ts'

/** Content of a folder that does something, or tells an agent what to do. */
export interface Content {
  readonly what: string
  readonly value: unknown
}

/** The hash of one item: of what it is, its value, and the folder it was seen in. */
export function hashOf(root: string, { what, value }: Content): string {
  return digest(JSON.stringify([root, what, value]))
}

/** The hash of all items of a folder: what PUNCHLIST_TRUST names. */
export function hashOfAll(root: string, items: readonly Content[]): string {
  return digest(JSON.stringify(items.map(item => hashOf(root, item)).toSorted()))
}

export function isAccepted(root: string, item: Content): boolean {
  return hashesIn(stateFile('accepted')).has(hashOf(root, item))
}

export function accept(root: string, items: readonly Content[]): void {
  keepHashes(
    stateFile('accepted'),
    items.map(item => hashOf(root, item)),
  )
}
