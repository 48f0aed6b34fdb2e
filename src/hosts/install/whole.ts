import { lineBreak } from './json-editing.ts'
import type { Piece } from './piece.ts'

/** A file of ours. One without the mark is somebody else's and is left alone; an older one of ours is replaced. */
export function whole({ name, root, path }: Pick<Piece, 'name' | 'root' | 'path'>, text: string, mark: RegExp): Piece {
  const isOurs = (there: string) => mark.test(there)
  return {
    name,
    root,
    path,
    put(there) {
      if (there === undefined) return text
      return isOurs(there) ? text.replaceAll('\n', lineBreak(there)) : there
    },
    take: there => (isOurs(there) ? undefined : there),
    look(there) {
      if (!isOurs(there)) return 'theirs'
      return there.replaceAll('\r\n', '\n') === text ? 'there' : 'missing'
    },
  }
}
