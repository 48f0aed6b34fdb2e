import { isOurServer } from './command.ts'
import { entries, inside } from './entries.ts'
import type { Piece } from './piece.ts'

/** The MCP server in a JSON file, under the name `punchlist`. */
export function server(
  { root, path }: Pick<Piece, 'root' | 'path'>,
  under: string,
  value: Readonly<Record<string, unknown>>,
): Piece {
  const place = [under, 'punchlist']
  const level = commandOf(value)[0] === 'punchlist' ? 'user' : 'project'
  const stands = (document: unknown) => {
    const there = inside(document, place)
    if (there === undefined) return undefined
    if (!isOurServer(...commandOf(there), level)) return 'theirs'
    return String(commandOf(there)) === String(commandOf(value)) ? 'there' : 'older'
  }
  const isOurs = (document: unknown) => ['there', 'older'].includes(stands(document) ?? '')
  return entries(
    { name: 'MCP server', root, path },
    [{ path: place, into: 'object', value, find: stands }],
    document => (isOurs(document) ? place : undefined),
  )
}

/** OpenCode has command and arguments in one list. */
function commandOf(value: unknown): [command: unknown, args: unknown] {
  const command = inside(value, ['command'])
  return Array.isArray(command) ? [command[0], command.slice(1)] : [command, inside(value, ['args'])]
}
