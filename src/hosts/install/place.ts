import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { isInGit, leaves } from '../../core/boundary.ts'
import { leadsOut, problemFor } from '../../core/disk.ts'
import { readBytes } from '../../core/files.ts'
import { Problem } from '../../core/problem.ts'

export const LARGEST = 16 * 1024 * 1024

/** A file below a folder, where it really lies, and its text to the last byte; a link that leads out is refused. */
export function readPlain(folder: string, path: string): { root: string; file: string; text: string | undefined } {
  const root = existsSync(folder) ? realpathSync(folder) : folder
  const file = resolved(root, path)
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (!stat) return { root, file, text: undefined }
  if (!stat.isFile() || stat.size > LARGEST) {
    const what = stat.isFile() ? 'is larger than 16 MiB' : 'is no file'
    throw new Problem('unreadable_file', `${file} ${what}`, 'Move it away, then try again; nothing was written.', {
      file,
    })
  }
  try {
    return {
      root,
      file,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readBytes(file, LARGEST, 'anyone')),
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw problemFor(error, file)
    throw new Problem('unreadable_file', `${file} is not UTF-8`, 'Save it as UTF-8, then try again.', { file })
  }
}

/** Links within the folder are followed, so that the file is changed and not the link. */
function resolved(root: string, path: string): string {
  const missing: string[] = []
  let there = join(root, path)
  while (there !== root && !isThere(there)) {
    missing.unshift(basename(there))
    there = dirname(there)
  }
  const real = there === root ? root : follow(there)
  const way = relative(root, real)
  if (leaves(way) || isInGit(way)) throw leadsOut(join(root, path))
  return join(real, ...missing)
}

/** A link that leads nowhere counts as there. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function follow(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    throw leadsOut(path)
  }
}
