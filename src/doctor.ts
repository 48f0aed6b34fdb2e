import { existsSync, lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makePrivate, refuseOther, writeOnce } from './core/files.ts'
import { refusalFor } from './core/lifecycle.ts'
import { Problem, type ProblemCode } from './core/problem.ts'
import type { Finding, Store } from './core/store.ts'
import { kinds } from './kinds.ts'
import { StoreDoor } from './open.ts'
import type { Workspace } from './workspace.ts'

export interface Check extends Finding {
  /** What a person can do about it; empty when nothing is wrong. */
  readonly hint: string
  /** Whether it has been put right just now. */
  readonly fixed: boolean
  readonly code?: ProblemCode
}

/** Looks at everything that must be right for a workspace to work, and with `fix` puts right what is safe to. */
export async function examine(workspace: Workspace, { fix }: { fix: boolean }): Promise<Check[]> {
  const file = workspace.store.startsWith('sqlite:') ? workspace.store.slice('sqlite:'.length) : undefined
  const about = [
    well('workspace', workspace.root),
    well('node', process.version),
    ...(await trustOf(workspace)),
    ...(await hostsOf(workspace, fix)),
  ]
  if (file !== undefined && file !== ':memory:' && !existsSync(file)) {
    return [...about, well('store', `${file} is not there yet; the first write makes it`)]
  }
  const door = new StoreDoor(workspace)
  try {
    const store = await door.store(false)
    const found = (await store.inspect(fix)).map(one => ({
      ...one,
      fixed: false,
      hint: one.ok ? '' : (one.hint ?? RESTORE),
      ...damage(one),
    }))
    return [...about, ...found, ...privacy(file, fix), await records(store)]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, hint, message } = error
    return [...about, { check: 'store', ok: false, detail: message, hint, fixed: false, code }]
  } finally {
    await door.close()
  }
}

const RESTORE = 'Copy the file to a safe place, then restore a backup; nothing was changed.'

function damage({ ok }: Finding): { code?: ProblemCode } {
  return ok ? {} : { code: 'unreadable_file' }
}

/** A list is its owner's: nobody else reads the file, and git does not take it along. */
function privacy(file: string | undefined, fix: boolean): Check[] {
  if (file === undefined || file === ':memory:' || basename(dirname(file)) !== '.punchlist') return []
  const folder = dirname(file)
  const ignore = join(folder, '.gitignore')
  return [
    mended('ignored by git', refuseOther(ignore) !== undefined, fix, () => writeOnce(ignore, '*\n', 0o644)),
    ...[file, folder].map(path =>
      mended(`only for its owner: ${basename(path)}`, (lstatSync(path).mode & 0o077) === 0, fix, () =>
        makePrivate(path),
      ),
    ),
  ]
}

function mended(check: string, ok: boolean, fix: boolean, mend: () => void): Check {
  if (!ok && fix) mend()
  const detail = ok ? 'yes' : fix ? 'put right' : 'no'
  return { check, ok: ok || fix, detail, hint: ok || fix ? '' : 'Run: punchlist doctor --fix', fixed: !ok && fix }
}

/** Commands that were not accepted are not run, which is no fault; a store that was not keeps everything from being written. */
async function trustOf(workspace: Workspace): Promise<Check[]> {
  const { trustSet } = await import('./trust-items.ts')
  const { items } = await trustSet(workspace)
  const open = items.filter(({ accepted }) => !accepted)
  const names = [...new Set(open.map(({ what }) => what))].join(', ')
  const blocks = open.some(({ what }) => BLOCKING.has(what) || what.startsWith('paths.'))
  if (!blocks)
    return [well('trust', open.length === 0 ? 'nothing waits to be accepted' : `not accepted, not in effect: ${names}`)]
  const hint = 'Look at it and accept it: punchlist trust'
  return [{ check: 'trust', ok: false, detail: `not accepted: ${names}`, hint, fixed: false, code: 'untrusted' }]
}

const BLOCKING: ReadonlySet<string> = new Set(['database', 'queue', 'store', 'settings'])

/** Whether the hosts that are wired here will call us. */
async function hostsOf({ here }: Workspace, fix: boolean): Promise<Check[]> {
  const { checkHosts } = await import('./hosts/install/checking.ts')
  return await checkHosts(here, process.env, fix)
}

/** Every stored record must satisfy its own status: another program may have written some. */
async function records(store: Store): Promise<Check> {
  let seen = 0
  const bad: string[] = []
  for (const kind of kinds) {
    for (let after: string | undefined; ; ) {
      const page = await store.find(kind, { limit: 500, after })
      for (const item of page) {
        seen++
        const refusal = refusalFor(kind.lifecycle, item.status, { ...item })
        if (refusal?.why === 'missing')
          bad.push(`${kind.name} ${item.id} (${item.status}) lacks ${refusal.missing.join(', ')}`)
      }
      after = page.at(-1)?.id
      if (page.length < 500) break
    }
  }
  const ok = bad.length === 0
  const detail = ok ? `${seen} items, each in order` : `${bad.length} of ${seen}: ${bad.slice(0, 5).join('; ')}`
  return {
    check: 'items',
    ok,
    detail,
    hint: ok ? '' : 'Fill in what is missing in the program that wrote them.',
    fixed: false,
  }
}

function well(check: string, detail: string): Check {
  return { check, ok: true, detail, hint: '', fixed: false }
}
