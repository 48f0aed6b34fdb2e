import { readdirSync } from 'node:fs'
import { moveEntry } from '../../core/file-entries.ts'
import { readRegular, removeFile } from '../../core/files.ts'
import { Problem } from '../../core/problem.ts'
import { isGone, isThisProcess, thisProcess, type Worker } from '../../core/process.ts'
import { guarded, unless } from './problems.ts'
import { type Root, statsAt, syncFolder } from './root.ts'
import { drafted } from './writing.ts'

/** A directory that is built, and where it belongs. */
export interface Place {
  readonly id: string
  readonly name: string
  readonly status: string
  /** The name that it was built under. */
  readonly built: string
}

/** Items that appear together. */
export interface Batch {
  readonly path: string
  readonly places: readonly Place[]
}

/** A batch of five thousand has long names. */
const LARGEST = 16 * 1024 * 1024

let count = 0

/**
 * The batches that are about to appear: noted once all of their directories are
 * built, before the first is put into its place. A process that is killed
 * before has added nothing; what one that is killed after has left is put into
 * its place by the next that looks.
 */
export class Batches {
  private readonly root: Root
  private readonly seal: (() => string) | undefined

  /** `seal`: what our notes carry. */
  constructor(root: Root, seal?: () => string) {
    this.root = root
    this.seal = seal
  }

  note(places: readonly Place[]): Batch {
    const worker = thisProcess()
    const draft = drafted(this.root, JSON.stringify({ places, worker, seal: this.seal?.() }))
    const path = this.root.own('batches', `${worker.pid}.${worker.start}.${worker.boot}.${++count}`)
    try {
      guarded(path, () => moveEntry(draft, path))
    } finally {
      guarded(draft, () => removeFile(draft))
    }
    syncFolder(this.root.own('batches'))
    return { path, places }
  }

  remove({ path }: Batch): void {
    guarded(path, () => removeFile(path))
  }

  /** Those whose writer is gone. */
  abandoned(): Batch[] {
    return this.all().filter(({ path, worker }) => {
      if (isThisProcess(worker)) return true
      const stats = statsAt(path)
      return stats !== undefined && isGone(worker, stats.mtimeMs)
    })
  }

  /** The names under which directories of batches lie that are about to appear. */
  waiting(): Set<string> {
    return new Set(this.all().flatMap(({ places }) => places.map(({ built }) => built)))
  }

  private all(): (Batch & { readonly worker: Worker })[] {
    const folder = this.root.own('batches')
    const names = unless(['ENOENT'], folder, () => readdirSync(folder)) ?? []
    return names.flatMap(name => this.readAt(this.root.own('batches', name)) ?? [])
  }

  /** Undefined for what is none of ours: what it names becomes paths. */
  private readAt(path: string): (Batch & { readonly worker: Worker }) | undefined {
    try {
      const text = guarded(path, () => readRegular(path, LARGEST, 'anyone'))
      const { places, worker, seal } = JSON.parse(text ?? '{}') as Partial<Batch> & { worker?: Worker; seal?: unknown }
      if (!worker || !Array.isArray(places) || (this.seal && seal !== this.seal())) return undefined
      const sound = (places as readonly Place[]).every(
        ({ id, name, status, built }) =>
          this.root.statuses.includes(status) && this.root.isNameOf(id, name) && /^[^/~]+~[\w.-]+$/.test(built),
      )
      return sound ? { path, places: places as readonly Place[], worker } : undefined
    } catch (error) {
      if (error instanceof Problem && error.code !== 'untrusted') throw error
      return undefined
    }
  }
}
