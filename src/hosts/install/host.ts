import type { Level } from './command.ts'
import type { Piece } from './piece.ts'

/** Where init works. */
export interface Where {
  readonly level: Level
  /** The folder of the project. */
  readonly root: string
  /** The user's own. */
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of this package. */
  readonly own: string
}

/** How a host is wired. The first piece is the one by which it is known whether it is. */
export interface Wiring {
  readonly host: string
  readonly title: string
  /** What it is called on PATH. */
  readonly program: string
  readonly levels: readonly Level[]
  pieces(where: Where): readonly Piece[]
  /** What a person has to know after it was wired. */
  readonly after?: string
  /** Whether our plugin is installed in it. */
  hasPlugin?(at: Omit<Where, 'level'>): boolean
  /** Why the host, wired as it is, would not call us. */
  hindrances?(where: Where): Promise<readonly Hindrance[]>
}

export interface Hindrance {
  readonly detail: string
  /** What to do about it; empty where it cannot be told whether anything must be done. */
  readonly hint: string
}

/** A folder of the user's that a variable may name; it is then the one that files may not lead out of. */
export function folderOf(
  { home, env }: Where,
  variable: string,
  usual: string,
): { readonly root: string; readonly below: (path: string) => string } {
  const named = env[variable]
  return named?.startsWith('/')
    ? { root: named, below: path => path }
    : { root: home, below: path => `${usual}/${path}` }
}
