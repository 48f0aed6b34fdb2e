import { authorityBelow, RUN_MARK } from '../core/lineage.ts'
import { Problem } from '../core/problem.ts'
import { harmless, harmlessLine, jsonText } from '../core/text.ts'
import type { Ask } from '../open.ts'
import { acceptItems, type Item, type TrustSet, trustSet } from '../trust-items.ts'
import { findWorkspace, type Workspace } from '../workspace.ts'
import type { GlobalFlags } from './arguments.ts'
import type { Surroundings } from './main.ts'
import { askingFrom } from './scope.ts'
import type { Terminal } from './terminal.ts'

/** `punchlist trust`: shows what of the folder may run or connect, and asks about what was not accepted yet. */
export async function trust({ yes }: { yes: boolean }, globals: GlobalFlags, around: Surroundings): Promise<number> {
  const { wish } = askingFrom(globals, around.env, around.cwd)
  const { terminal } = around
  const workspace = await findWorkspace(wish)
  const json = globals.json === true
  let set = await trustSet(workspace)
  if (!json) terminal.out(harmless(shownSet(set)))
  const open = set.items.filter(({ accepted }) => !accepted)
  const wanted = yes ? open : json || !terminal.interactive ? [] : await askedFor(open, terminal)
  if (wanted.length > 0) {
    if (authorityBelow('person', around.env[RUN_MARK]).who === 'agent') throw notAnAgents()
    set = await acceptItems(workspace, new Set(wanted.map(({ hash }) => hash)))
    if (!json) terminal.out(`Accepted: ${wanted.map(({ what }) => what).join(', ')}`)
  } else if (open.length > 0 && !json && !terminal.interactive) {
    terminal.out(`Accept all of it with: punchlist trust --yes\nIn scripts: PUNCHLIST_TRUST=${set.hash}`)
  }
  if (json) terminal.out(jsonText(set))
  return 0
}

/** How a person at this terminal is asked; undefined where there is none. */
export function askerFor(workspace: Workspace, terminal: Terminal): Ask | undefined {
  if (!terminal.interactive) return undefined
  return async wanted => {
    const { items } = await trustSet(workspace)
    const open = items.filter(({ what, accepted }) => !accepted && wanted.some(one => one.what === what))
    if (open.length > 0) terminal.out(harmless(open.map(shownItem).join('\n\n')))
    const accepted = await askedFor(open, terminal)
    if (accepted.length > 0) await acceptItems(workspace, new Set(accepted.map(({ hash }) => hash)))
    return accepted.length === open.length
  }
}

/** Refuses a run, before anything is claimed, while something that it would use was not accepted. Returns whether a person accepted it just now. */
export async function refuseUntrusted(
  workspace: Workspace,
  used: (what: string) => boolean,
  terminal: Terminal,
): Promise<boolean> {
  const open = (await trustSet(workspace)).items.filter(({ what, accepted }) => !accepted && used(what))
  if (open.length === 0) return false
  if (await askerFor(workspace, terminal)?.(open)) return true
  throw new Problem(
    'untrusted',
    `Not accepted here: ${open.map(told).join('; ')}; nothing was claimed`,
    'Look at it and accept it: punchlist trust',
    { items: open },
  )
}

function told({ what, value }: Item): string {
  return `${what} ${what === 'tasks' ? taskLines(value).join(', ') : JSON.stringify(value)}`
}

async function askedFor(open: readonly Item[], terminal: Terminal): Promise<Item[]> {
  const accepted: Item[] = []
  for (const item of open) {
    const answer = await terminal.ask(`Accept ${item.what}? [y/n] `)
    if (answer === undefined) break
    if (/^y(?:es)?$/i.test(answer.trim())) accepted.push(item)
  }
  return accepted
}

function shownSet({ items }: TrustSet): string {
  if (items.length === 0) return 'Nothing in this folder needs to be accepted.'
  return items.map(shownItem).join('\n\n')
}

function shownItem({ what, value, accepted }: Item): string {
  const state = accepted ? 'accepted' : 'not accepted'
  return [`${what} (${state})`, ...linesOf(what, value).map(line => `  ${line}`)].join('\n')
}

function linesOf(what: string, value: unknown): string[] {
  if (what === 'tasks') return (value as readonly ShownTask[]).flatMap(shownTask)
  const lines =
    Array.isArray(value) && what === 'wards' ? value.map(ward => shownWard(ward)) : [JSON.stringify(value, null, 2)]
  return lines.flatMap(line => line.split('\n'))
}

interface ShownTask {
  readonly id: string
  readonly title: string
  readonly texts: Readonly<Record<string, string>>
}

/** Everything of a task that goes into a prompt. The bar keeps its text from looking like the next item. */
function shownTask({ id, title, texts }: ShownTask): string[] {
  const lines = Object.entries(texts).flatMap(([name, text]) => [
    harmlessLine(`  ${name}`),
    ...text
      .trimEnd()
      .split(/\r?\n/)
      .map(line => `  | ${line}`),
  ])
  return [harmlessLine(`${id}  ${title}`), ...lines]
}

const MOST_TASKS = 20

function taskLines(value: unknown): string[] {
  const tasks = value as readonly ShownTask[]
  const more = tasks.length - MOST_TASKS
  const lines = tasks.slice(0, MOST_TASKS).map(({ id, title }) => harmlessLine(`${id} ${title}`))
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

function shownWard(ward: unknown): string {
  const { run, env = [] } = typeof ward === 'string' ? { run: ward } : (ward as { run: string; env?: string[] })
  // A line break or a wide gap would look like another ward, another item, or the names of variables.
  const command = /^\S+(?: \S+)*$/.test(run) ? run : JSON.stringify(run)
  return env.length > 0 ? `${command}   with ${env.join(', ')}` : command
}

function notAnAgents(): Problem {
  return new Problem('untrusted', 'An agent of a run does not accept anything', 'Let a person run: punchlist trust')
}
