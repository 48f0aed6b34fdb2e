import type { Item, Kind } from '../core/kind.ts'
import type { Caller, Command } from '../core/operation.ts'
import type { Store } from '../core/store.ts'
import { planItem, turn } from './record.ts'

/** The kinds whose items name a command that is run when they are completed. */
const CHECKED: readonly Kind[] = [planItem, turn]
const PAGE = 500

/** Returns the check in the fields of an item; undefined where it has none, or its kind never has one. */
export function checkOf(kind: string, fields: object): Command | undefined {
  if (!CHECKED.some(({ name }) => name === kind)) return undefined
  return (fields as { checkCommand?: Command | null }).checkCommand ?? undefined
}

/** Returns every check command in a store, each once. */
export async function checksIn(store: Store): Promise<Command[]> {
  const found: Command[] = []
  for (const kind of CHECKED) {
    for (let after: string | undefined; ; ) {
      const page: Item[] = await store.find(kind, { limit: PAGE, after })
      found.push(...page.flatMap(item => [checkOf(kind.name, item) ?? []].filter(command => command.length > 0)))
      after = page.at(-1)?.id
      if (page.length < PAGE) break
    }
  }
  return distinct(found)
}

export function distinct(commands: readonly Command[]): Command[] {
  return [...new Map(commands.map(command => [JSON.stringify(command), command])).values()]
}

/** Accepts the checks that the caller sets: a person or a program that names a command wants it to be run. */
export async function acceptSet(caller: Caller, commands: readonly (Command | undefined)[]): Promise<void> {
  for (const command of commands) {
    if (!command || (await caller.checks.mayRun(command))) continue
    const { who } = await caller.authority()
    if (who === 'person' || who === 'program') await caller.checks.accept(command)
  }
}
