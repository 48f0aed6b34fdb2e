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
  const stands = (document: unknown) => {
    const there = inside(document, place)
    if (there === undefined) return undefined
    return isOurs(there) ? 'there' : 'theirs'
  }
  return entries(
    { name: 'MCP server', root, path },
    [{ path: place, into: 'object', value, find: stands }],
    document => (stands(document) === 'there' ? place : undefined),
  )
}

/** OpenCode has command and arguments in one list. */
function isOurs(value: unknown): boolean {
  const command = inside(value, ['command'])
  return Array.isArray(command)
    ? isOurServer(command[0], command.slice(1))
    : isOurServer(command, inside(value, ['args']))
}
