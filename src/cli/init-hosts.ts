import { harmless, harmlessLine } from '../core/text.ts'
import { INSTALLING, type Level } from '../hosts/install/command.ts'
import type { Where, Wiring } from '../hosts/install/host.ts'
import { type Installed, installed, previewed } from '../hosts/install/installing.ts'
import { isFound } from '../hosts/install/path.ts'
import { surroundings } from '../hosts/install/surroundings.ts'
import { wiringsFor } from '../hosts/install/wirings.ts'
import { findWorkspace, type WorkspaceWish } from '../workspace.ts'
import type { Surroundings } from './main.ts'

export interface HostsWish {
  readonly hosts: readonly string[]
  readonly user: boolean
  readonly remove: boolean
  readonly yes: boolean
  readonly dryRun: boolean
  readonly json: boolean
}

export interface WiredAnswer extends Installed {
  readonly hosts: readonly string[]
  readonly level: Level
  /** Whether it was done, and not only shown. */
  readonly written: boolean
}

/** Wires hosts, or takes that back. A person sees the changes and is asked; a script has asked for them already. */
export async function wire(wish: HostsWish, at: WorkspaceWish, { terminal, env }: Surroundings): Promise<WiredAnswer> {
  const level: Level = wish.user ? 'user' : 'project'
  const wirings = wiringsFor(wish.hosts, level)
  const { here } = await findWorkspace(at)
  const where: Where = { level, ...surroundings(here, env) }
  const preview = previewed(wirings, where, wish.remove)
  const answer = { hosts: wirings.map(({ host }) => host), level }
  if (preview.files.length === 0) return { ...answer, ...preview, written: false }
  const asks = terminal.interactive && !wish.yes && !wish.dryRun && !wish.json
  const shown = harmless(preview.diff.replace(/\r$/gm, ''))
  if (!wish.json && (asks || wish.dryRun)) terminal.out(shown)
  else if (!wish.json) terminal.err(shown)
  if (wish.dryRun || (asks && !/^y(?:es)?$/i.test((await terminal.ask('Write this? [y/N] '))?.trim() ?? '')))
    return { ...answer, ...preview, written: false }
  const done = installed(wirings, where, wish.remove)
  return { ...answer, ...done, notes: [...done.notes, ...(wish.remove ? [] : advice(wirings, where))], written: true }
}

/** What was done, for people. */
export function shownWiring({ files, notes, written, hosts, level }: WiredAnswer): string {
  const whose = level === 'user' ? 'for this user' : 'in this project'
  const lines =
    files.length === 0
      ? [`${hosts.join(', ')}: nothing to change ${whose}`]
      : files.map(({ file, change }) => (written ? `${change} ${file}` : `would be ${change}: ${file}`))
  return [...lines, ...notes].map(harmlessLine).join('\n')
}

function advice(wirings: readonly Wiring[], where: Where): string[] {
  const place = where.level === 'user' ? 'not on PATH' : 'neither in node_modules nor on PATH'
  return [
    ...wirings.flatMap(({ after }) => after ?? []),
    ...(isFound(where) ? [] : [`punchlist is ${place}, so nothing will be called: ${INSTALLING[where.level]}`]),
  ]
}
