import type { DirectoryForm, Entry, Evidence, Verdict } from '../core/kind.ts'
import { checkpointNumber, isAwaiting, replyName } from './checkpoints.ts'
import { ERROR_REPORT } from './error-report.ts'
import { type Flag, flagName, flagsIn, newest, type Word } from './flags.ts'
import { directoryName, NAMED, numbersIn, parentOf, readDirectoryName } from './names.ts'
import { rankOf } from './record.ts'
import { readTask } from './task-file.ts'
import { VERIFIED, verifiedAtIn } from './verified.ts'
import { readWaivers, WAIVERS } from './waivers.ts'

/** The text that defines a task, which lies in a file named after the directory. */
export const DEFINITION = 'task.md'

/** A script that claims with `mv` and `touch` may be between the two. */
const GRACE_MS = 60_000

type Reader = (name: string) => string | undefined

/** A task as a directory. */
export const taskDirectory: DirectoryForm = {
  folders: ['staged', 'to_execute', 'in_progress', 'completed', 'error'],
  definition: DEFINITION,
  graceMs: GRACE_MS,
  name: item => directoryName(item as { id: string; slug: string }),
  named(name) {
    const read = readDirectoryName(name)
    if (!read) return { line: 1, message: NAMED }
    const { id, slug } = read
    return { id, fields: { slug, parent: parentOf(id), ...numbersIn(id) } }
  },
  read(text, name) {
    const task = readTask(text, name)
    if ('message' in task) return task
    const { title, type, priority, posted, targetWorker, session, discrete, dependsOn, writes, origin, remark } = task
    const rank = rankOf(priority)
    return {
      remark,
      fields: {
        title,
        type,
        priority,
        rank,
        posted,
        targetWorker,
        session,
        discrete,
        dependsOn,
        writes: writes.length > 0 ? writes : null,
        origin,
      },
    }
  },
  evidence(id, entries, text): Evidence {
    const { flags, complaints } = flagsIn(id, entries)
    const named = (word: Word) => flags.filter(({ what }) => what === word).map(({ name }) => name)
    const claims = named('started')
    const { last, awaiting } = checkpointsIn(entries, text)
    const waivers = isThere(entries, WAIVERS) ? text(WAIVERS) : undefined
    return {
      fields: {
        startedAt: newest(flags, 'started')?.at ?? null,
        finishedAt: finishedAt(flags, entries),
        checkpoints: last,
        awaiting: awaiting ? 1 : 0,
        waived: waivers === undefined ? {} : readWaivers(waivers),
        verifiedAt: isThere(entries, VERIFIED) ? verifiedAtIn(text(VERIFIED) ?? '') : null,
      },
      complaints: [...complaints, ...startedTwice(claims), ...inItself(entries)],
      claims,
      ends: [...named('completed'), ...named('cancelled')],
    }
  },
  // Whoever works in the directory can write the file: that wards passed is what punchlist has seen.
  sealed: { text: VERIFIED, field: 'verifiedAt' },
  flag: flagName,
  verdict(id, status, entries, _text, claimed): Verdict | undefined {
    if (status !== 'in_progress') return undefined
    const { flags } = flagsIn(id, entries)
    const started = newest(flags, 'started')
    const done = newest(flags, 'completed') ?? newest(flags, 'cancelled')
    if (done) return { to: done.what, why: `it was ${done.what} at ${done.at}, as ${done.name} says, but not moved` }
    const failed = failedSince(started, flags, entries, claimed)
    if (failed !== undefined) return { to: 'error', why: `it failed, as ${failed} says, but was not moved` }
    if (started || claimed) return undefined
    return { to: 'to_execute', why: 'it was moved here, but nobody says to have started it', isEarly: true }
  },
}

function isThere(entries: readonly Entry[], name: string): boolean {
  return entries.some(entry => entry.name === name && entry.isFile)
}

function startedTwice(claims: readonly string[]): string[] {
  return claims.length < 2 ? [] : [`it has ${claims.length} started flags, and the newest counts: ${claims.join(', ')}`]
}

/** `mv` puts a directory into one that has its name already: there, it lies beside the file of that name. */
function inItself(entries: readonly Entry[]): string[] {
  const nested = entries.filter(({ name, isFile }) => !isFile && isThere(entries, `${name}.md`))
  return nested.map(({ name }) => `has another ${name} in it: compare the two, and move one of them away`)
}

/** The last checkpoint, and whether it waits for an answer that is not there. */
function checkpointsIn(entries: readonly Entry[], text: Reader): { readonly last: number; readonly awaiting: boolean } {
  let last = 0
  let name = ''
  for (const entry of entries) {
    const number = entry.isFile ? checkpointNumber(entry.name) : undefined
    if (number !== undefined && number > last) [last, name] = [number, entry.name]
  }
  if (last === 0) return { last, awaiting: false }
  const answers = [replyName(last), name.replace(/\.md$/, '_reply.md')]
  return { last, awaiting: !answers.some(answer => isThere(entries, answer)) && isAwaiting(text(name) ?? '') }
}

/** A retry takes the started flags away: a failure from before it is no end. */
function finishedAt(flags: readonly Flag[], entries: readonly Entry[]): string | null {
  const done = newest(flags, 'completed', 'cancelled')
  if (done) return done.at
  const failed = failedSince(newest(flags, 'started'), flags, entries, false)
  if (failed === undefined) return null
  const report = entries.find(({ name }) => name === failed)
  return flags.find(({ name }) => name === failed)?.at ?? new Date(report!.written).toISOString()
}

/**
 * The file that tells of a failure since the last start. Compared is when files
 * were written, as a flag has only seconds, and a report what its writer put there.
 * File systems count in steps of some milliseconds: in the same one, a failure
 * is older if somebody holds a claim, who took it after a retry.
 */
function failedSince(
  started: Flag | undefined,
  flags: readonly Flag[],
  entries: readonly Entry[],
  claimed: boolean,
): string | undefined {
  if (!started) return undefined
  const report = entries.find(({ name, isFile }) => name === ERROR_REPORT && isFile)
  const told = [newest(flags, 'error'), report].filter(each => each !== undefined)
  return told.find(({ written }) => written > started.written || (!claimed && written === started.written))?.name
}
