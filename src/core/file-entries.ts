import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { removeFile } from './files.ts'

/*
 * The entries of folders: made, moved, linked, removed. Each of these acts on a
 * name and never on what a link of that name leads to. The folder of the name has
 * been looked at by the caller. What the file system has against it is thrown as
 * it is.
 */

/** Gives a file, a folder or a link another name, in one step. A file in its place is replaced, and so is an empty folder by a folder. */
export function moveEntry(from: string, to: string): void {
  renameSync(from, to)
}

/** Gives a file a second name that must be free: EEXIST otherwise. */
export function linkFile(from: string, to: string): void {
  linkSync(from, to)
}

/** Makes a symbolic link under a name that must be free. */
export function makeLink(target: string, path: string): void {
  symlinkSync(target, path)
}

/** Makes one folder under a name that must be free. */
export function makeNewFolder(path: string, mode = 0o700): void {
  mkdirSync(path, { mode })
}

/**
 * Makes a folder that the user named, or whose boundary was looked at, with all on
 * the way to it; links on the way are followed. Returns the first that was made.
 */
export function makeNamedFolder(path: string, mode?: number): string | undefined {
  return mkdirSync(path, mode === undefined ? { recursive: true } : { recursive: true, mode })
}

/** Takes an empty folder away. */
export function removeFolder(path: string): void {
  rmdirSync(path)
}

/** Takes a folder away with everything in it: of links themselves, never what they lead to. */
export function removeTree(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return
  if (stats.isDirectory()) rmSync(path, { recursive: true, force: true })
  else removeFile(path)
}

/** Sees to it that the entries of a folder are on the disk; a link to it is followed, as nothing is read or written. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
