import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { codeOf } from '../core/disk.ts'
import { Problem } from '../core/problem.ts'

/** A file or folder that a model may look at. */
export interface Place {
  readonly path: string
  /** As the model is told it: below the folder, with slashes. */
  readonly name: string
  readonly stat: Stats | undefined
}

/** What we and git keep there, and the settings, which name commands that are run. */
const KEPT_FROM_WRITING = new Set(['.git', '.punchlist', 'punchlist.json'])

/** The folder that an agent works in. Whatever a model asks for lies in it, links followed, or is refused. */
export class Folder {
  readonly path: string

  constructor(path: string) {
    this.path = realpathSync(path)
  }

  /** A place in it, which need not be there yet. */
  place(asked: string): Place {
    if (asked.includes('\0')) throw new Problem('bad_input', 'A path has no zero characters', 'Send another path.')
    const path = this.real(resolve(this.path, asked), asked)
    return { path, name: this.name(path), stat: statSync(path, { throwIfNoEntry: false }) }
  }

  /** The same, for something that is there. */
  existing(asked: string): Place & { readonly stat: Stats } {
    const { path, name, stat } = this.place(asked)
    if (stat) return { path, name, stat }
    throw new Problem('not_found', `There is no ${name}`, 'See what there is with list_files.', { path: name })
  }

  /** The same, for something that may be written. */
  writable(asked: string): Place {
    const found = this.place(asked)
    const kept = found.name.split('/').find(part => KEPT_FROM_WRITING.has(part.toLowerCase()))
    if (kept === undefined && found.name !== '.') return found
    throw new Problem(
      'move_refused',
      `${found.name} is not to be written`,
      'Leave it as it is; a person can change it.',
      {
        path: found.name,
      },
    )
  }

  private name(path: string): string {
    return relative(this.path, path).split(sep).join('/') || '.'
  }

  /** Where a path really leads: of one that is not there yet, what is there of it. */
  private real(path: string, asked: string): string {
    const real = this.followed(path, asked)
    const inside = relative(this.path, real)
    if (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return real
    throw this.outside(asked)
  }

  private followed(path: string, asked: string): string {
    try {
      return realpathSync(path)
    } catch (error) {
      const code = codeOf(error)
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw unusable(asked, code)
      // A link to something that is not there could lead anywhere once it is.
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw this.outside(asked)
      if (dirname(path) === path) throw unusable(asked, code)
      return join(this.followed(dirname(path), asked), basename(path))
    }
  }

  private outside(asked: string): Problem {
    const hint = 'Use a path below the working folder, such as src/main.ts.'
    return new Problem('bad_input', `${asked.slice(0, 200)} leads out of the working folder`, hint, {
      path: asked.slice(0, 200),
    })
  }
}

/** What the file system says, as a model can act on it. */
export function unusable(name: string, code: string): Problem {
  return new Problem(
    'bad_input',
    `${name.slice(0, 200)} cannot be used: ${code}`,
    'See what there is with list_files, and use another path.',
    {
      path: name.slice(0, 200),
    },
  )
}
