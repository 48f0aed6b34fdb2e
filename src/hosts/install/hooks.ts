import { callsUs, hookCommand, isOurHook, type Level } from './command.ts'
import { type Entry, entries, inside } from './entries.ts'
import { readJson, valueOf } from './json.ts'
import type { Path } from './json-editing.ts'
import type { Piece } from './piece.ts'

/** The events that a host tells, each with the tools it is about, where it is about tools. */
export type Events = Readonly<Record<string, string | null>>

export interface HookFile {
  readonly host: string
  readonly level: Level
  readonly root: string
  readonly path: string
  readonly events: Events
  /** How long the hook of an event may take, under the name and in the unit that the host has for it. */
  readonly limit: (event: string) => Readonly<Record<string, number>>
  /** Whether the handlers of an event stand in its list by themselves, and not in groups. */
  readonly flat?: boolean
  /** What the file must have besides. */
  readonly head?: Readonly<Record<string, unknown>>
}

/** The hooks in a JSON file, one for each event. */
export function hooks({ host, level, root, path, events, limit, flat = false, head = {} }: HookFile): Piece {
  const command = hookCommand(host, level)
  const heads = Object.entries(head).map(([key, value]): Entry => {
    return {
      path: [key],
      into: 'object',
      value,
      find: document => (inside(document, [key]) === value ? 'there' : undefined),
    }
  })
  const each = Object.entries(events).map(([event, tools]): Entry => {
    const about = tools === null ? {} : { matcher: tools }
    const handler = { type: 'command', command, ...limit(event) }
    return {
      path: ['hooks', event],
      into: 'array',
      value: flat ? { ...about, ...handler } : { ...about, hooks: [handler] },
      find(document) {
        const commands = handlersIn(document, event, flat).map(one => one.command)
        if (commands.includes(command)) return 'there'
        if (commands.some(one => isOurHook(one, host))) return 'older'
        return commands.some(one => callsUs(one, host)) ? 'theirs' : undefined
      },
    }
  })
  const piece = entries({ name: `hooks of ${host}`, root, path }, [...heads, ...each], document => {
    for (const event of Object.keys(inside(document, ['hooks']) ?? {})) {
      const ours = handlersIn(document, event, flat).find(one => isOurHook(one.command, host))
      if (ours) return ours.alone
    }
    return undefined
  })
  if (heads.length === 0) return piece
  return {
    ...piece,
    take(text) {
      const left = piece.take(text)
      return left === undefined || left === text || !isOnly(left, head) ? left : undefined
    },
  }
}

function isOnly(text: string, head: Readonly<Record<string, unknown>>): boolean {
  return JSON.stringify(valueOf(readJson(text))) === JSON.stringify(head)
}

/** Every handler of an event; `alone` is what to take out for it: its group, where it is the only one in that. */
function handlersIn(document: unknown, event: string, flat: boolean): { command: unknown; alone: Path }[] {
  return listed(inside(document, ['hooks', event])).flatMap((group, place): { command: unknown; alone: Path }[] => {
    const whole: Path = ['hooks', event, place]
    if (flat) return [{ command: inside(group, ['command']), alone: whole }]
    const handlers = listed(inside(group, ['hooks']))
    return handlers.map((handler, index) => ({
      command: inside(handler, ['command']),
      alone: handlers.length === 1 ? whole : [...whole, 'hooks', index],
    }))
  })
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
