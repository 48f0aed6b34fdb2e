import { lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { codeOf } from './disk.ts'
import { untrusted } from './files.ts'

/*
 * Where paths lead that people may have made links of: a link that stays in the
 * workspace is theirs, one that leads out of it, or into a repository's own
 * folder, is not followed.
 */

/** Whether a path, links followed, lies in a root and not in a `.git` there. Throws where nothing is at its end. */
export function isInside(root: string, path: string): boolean {
  const way = relative(realpathSync(root), realpathSync(path))
  return !leaves(way) && !isInGit(way)
}

/** The same for a path that need not be there yet: what there is of it stays inside. */
export function staysInside(root: string, path: string): boolean {
  if (path === root) return true
  try {
    if (lstatSync(path, { throwIfNoEntry: false })) return isInside(root, path)
  } catch (error) {
    // A link to nowhere could lead anywhere one day.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return false
    if (codeOf(error) !== 'ENOTDIR') throw error
  }
  return staysInside(root, dirname(path))
}

/** What nothing may lead out of: the root, or a folder outside of it, given from there, that its user accepted. */
export function boundOf(root: string, folder: string): string {
  return leaves(folder) ? join(root, folder) : root
}

/** Where a path leads, as long as that is inside of a root; refuses where it is not. Undefined where nothing is there. */
export function realInside(root: string, path: string): string | undefined {
  let real: string
  try {
    real = realpathSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !lstatSync(path, { throwIfNoEntry: false })) return undefined
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') throw untrusted(path, 'a symbolic link to nowhere')
    throw error
  }
  if (!leaves(relative(realpathSync(root), real))) return real
  throw untrusted(path, 'a symbolic link that leads out of the workspace')
}

/** Whether one of the folders on a way is a repository's own, as file systems see it that ignore case. */
export function isInGit(way: string): boolean {
  return way.split(sep).some(part => part.toLowerCase() === '.git')
}

/** Whether a relative path leaves the folder that it begins in. */
export function leaves(way: string): boolean {
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
}
