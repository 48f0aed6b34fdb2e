import { Problem } from '../../core/problem.ts'
import { Unreadable } from './json.ts'

/** One thing that init puts into one file: text in, text out. What it takes out again leaves the text as it was. */
export interface Piece {
  /** What people call it. The same name in the same file is the same thing, whichever host needs it. */
  readonly name: string
  /** The folder that the file may not lead out of. */
  readonly root: string
  /** The file, below that folder. */
  readonly path: string
  /** The text with it; the same text where it is there already. Undefined: there is no such file. */
  put(text: string | undefined): string
  /** The text without it; undefined where the file was made for it. */
  take(text: string): string | undefined
  /** How it stands in a text. `theirs`: something of the same name that init has not written, and leaves alone. */
  look(text: string): 'there' | 'missing' | 'theirs'
}

/** A file that cannot be read as what it is: named with its line, before anything is written. */
export function refused(file: string, error: unknown): unknown {
  if (!(error instanceof Unreadable)) return error
  return new Problem(
    'unreadable_file',
    `${file}:${error.line} cannot be read: ${error.message}`,
    `Correct line ${error.line} of ${file}, then try again; nothing was written.`,
    { file, line: error.line },
  )
}
