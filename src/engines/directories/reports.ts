import { readdirSync } from 'node:fs'
import { moveEntry } from '../../core/file-entries.ts'
import { readRegular, removeFile } from '../../core/files.ts'
import type { Texts } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import { isGone, isThisProcess, thisProcess, type Worker } from '../../core/process.ts'
import { guarded, unless } from './problems.ts'
import { type Root, statsAt, syncFolder } from './root.ts'
import { drafted } from './writing.ts'

/** How a claim is to end: written down before it is decided, so that whoever comes after a killed process can finish it. */
export interface Report {
  readonly id: string
  readonly name: string
  readonly token: number
  readonly from: string
  readonly to: string
  readonly by: string
  readonly at: string
  readonly why?: string | undefined
  readonly fields: Fields
  readonly texts: Texts
  /** The lease was taken for lapsed: if it turns out to have been renewed, the claim goes on. */
  readonly lapsed: boolean
  readonly worker: Worker
}

/** A report as it lies on the disk. */
type Sealed = Report & { readonly seal?: unknown }

/** The reports of claims that are about to end. */
export class Reports {
  private readonly root: Root
  private readonly seal: (() => string) | undefined

  /** `seal`: what our reports carry. A report without it came with somebody else's files and is not read. */
  constructor(root: Root, seal?: () => string) {
    this.root = root
    this.seal = seal
  }

  write(report: Omit<Report, 'worker'>): Report {
    const whole = { ...report, worker: thisProcess() }
    const draft = drafted(this.root, JSON.stringify({ ...whole, seal: this.seal?.() }))
    try {
      guarded(this.path(whole), () => moveEntry(draft, this.path(whole)))
    } finally {
      guarded(draft, () => removeFile(draft))
    }
    try {
      syncFolder(this.root.own('reports'))
    } catch (error) {
      this.remove(whole)
      throw error
    }
    return whole
  }

  read(key: Pick<Report, 'id' | 'token' | 'to'>): Report | undefined {
    return this.readAt(this.path(key))
  }

  /** False where another process was faster. */
  remove(key: Pick<Report, 'id' | 'token' | 'to'>): boolean {
    const path = this.path(key)
    return guarded(path, () => removeFile(path))
  }

  /** Those whose writer is gone. `unread` gets each that cannot be read, and why: it is in the way of none of the others. */
  abandoned(unread: (path: string, problem: Problem) => void): Report[] {
    const folder = this.root.own('reports')
    const names = unless(['ENOENT'], folder, () => readdirSync(folder)) ?? []
    return names.flatMap(name => {
      const path = this.root.own('reports', name)
      try {
        const report = this.readAt(path)
        const stats = report && statsAt(path)
        // What this process has written and is not carrying out any more could not be carried out then.
        return stats && (isThisProcess(report.worker) || isGone(report.worker, stats.mtimeMs)) ? [report] : []
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        unread(path, error)
        return []
      }
    })
  }

  private readAt(path: string): Report | undefined {
    const text = tolerant(() => guarded(path, () => readRegular(path, LARGEST, 'anyone')))
    const report = text === undefined ? undefined : reportIn(text)
    return report && this.isOurs(report, path) ? report : undefined
  }

  /** Whether it could be one of ours: what it names becomes paths, and the folder may have come with somebody else's files. */
  private isOurs(report: Sealed, path: string): boolean {
    const { id, name, from, to, seal } = report
    if (this.seal && seal !== this.seal()) return false
    const known = [from, to].every(status => this.root.statuses.includes(status))
    return known && this.root.isNameOf(id, name) && this.path(report) === path
  }

  /** Where a report lies. */
  path({ id, token, to }: Pick<Report, 'id' | 'token' | 'to'>): string {
    return this.root.own('reports', `${id}~${token}~${to}`)
  }
}

/** What is no file is no report. */
function tolerant(read: () => string | undefined): string | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Problem && error.code === 'untrusted') return undefined
    throw error
  }
}

/** A report holds texts of up to a megabyte each. */
const LARGEST = 256 * 1024 * 1024

function reportIn(text: string): Sealed | undefined {
  try {
    const report = JSON.parse(text) as Partial<Sealed>
    const { id, name, from, to, token, texts, fields, worker } = report
    const told = [id, name, from, to].every(value => typeof value === 'string') && Number.isSafeInteger(token)
    const whole = [texts, fields, worker].every(value => typeof value === 'object' && value !== null)
    return told && whole ? (report as Sealed) : undefined
  } catch {
    return undefined
  }
}
