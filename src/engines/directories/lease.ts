import { closeSync, constants, writeSync } from 'node:fs'
import { pause, sinceBoot, thisBoot } from '../../core/clock.ts'
import { openRegular, readUpTo } from '../../core/files.ts'
import { unless } from './problems.ts'

/** Whose a task is, and until when. */
export interface Lease {
  readonly owner: string
  /** When it was claimed, ISO time. */
  readonly at: string
  readonly boot: string
  /** In milliseconds since the machine was started; null for ever. */
  readonly until: number | null
  /** Whether its owner judges who calls the item done. */
  readonly guarded: boolean
}

export function newLease(owner: string, at: string, leaseMs: number | undefined, guarded = false): Lease {
  return { owner, at, boot: thisBoot(), until: leaseMs === undefined ? null : sinceBoot() + leaseMs, guarded }
}

/** What is left of it in milliseconds, negative once it has run out; undefined for one that holds for ever. */
export function msLeft({ boot, until }: Lease): number | undefined {
  if (until === null) return undefined
  return boot === thisBoot() ? until - sinceBoot() : -1
}

export function isLapsed(lease: Lease): boolean {
  return (msLeft(lease) ?? 0) < 0
}

/** One line each; the time stands before and after what changes, so that one who reads while another writes over it notices. */
export function leaseText({ owner, at, boot, until, guarded }: Lease): string {
  const time = String(until ?? 'for ever').padEnd(WIDTH)
  return `${[time, boot, at, JSON.stringify(owner), time, ...(guarded ? [GUARDED] : [])].join('\n')}\n`
}

const WIDTH = 16
/** It is there from the beginning of a lease to its end. */
const GUARDED = 'guarded'
/** Names are short. */
const LARGEST = 64 * 1024

export interface ReadLease {
  readonly lease: Lease
  /** Which file it is. */
  readonly ino: number
}

/** The lease in a file; undefined where there is none. */
export function readLease(path: string): ReadLease | undefined {
  for (let attempt = 1; ; attempt++) {
    const read = unless(['ENOENT'], path, () => {
      const { descriptor, stats } = openRegular(path, constants.O_RDONLY, { owner: 'anyone' })
      try {
        return { text: readUpTo(descriptor, LARGEST).toString('utf8'), ino: stats.ino }
      } finally {
        closeSync(descriptor)
      }
    })
    if (!read) return undefined
    const lease = leaseIn(read.text)
    if (lease) return { lease, ino: read.ino }
    // Just being made or renewed; or its maker was killed over it, and then it has run out.
    if (attempt === 20) return { lease: UNKNOWN, ino: read.ino }
    pause(1)
  }
}

function leaseIn(text: string): Lease | undefined {
  const [time, boot, at, owner, again, guarded] = text.split('\n')
  if (time === undefined || time === '' || time !== again) return undefined
  const until = time.trim() === 'for ever' ? null : Number(time)
  return { owner: unquoted(owner ?? ''), at: at!, boot: boot!, until, guarded: guarded === GUARDED }
}

const UNKNOWN: Lease = { owner: 'unknown', at: '', boot: '', until: 0, guarded: false }

/** The file may have come with somebody else's: then there can be anything in it. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return 'unknown'
  }
}

/** Writes over a lease in place, and says which file that was; undefined where there is none. */
export function overwriteLease(path: string, change: (lease: Lease) => Lease): ReadLease | undefined {
  return unless(['ENOENT'], path, () => {
    const { descriptor, stats } = openRegular(path, constants.O_RDWR, { owner: 'anyone' })
    try {
      const before = leaseIn(readUpTo(descriptor, LARGEST).toString('utf8'))
      const lease = change(before ?? UNKNOWN)
      writeSync(descriptor, leaseText(lease), 0)
      return { lease, ino: stats.ino }
    } finally {
      closeSync(descriptor)
    }
  })
}
