import { dirname } from 'node:path'
import * as v from 'valibot'
import { codeOf } from '../core/disk.ts'
import { moveEntry } from '../core/file-entries.ts'
import { makeFolder, removeFile, writeDurably } from '../core/files.ts'
import { digest, newId } from '../core/id.ts'
import { described } from '../core/input.ts'
import type { Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { type Folder, type Place, unusable } from './folder.ts'
import { pathInput, textOf } from './reading.ts'
import { ownTool } from './tool.ts'

const MOST_CHARACTERS = 1_000_000
const content = (text: string) =>
  v.pipe(v.string(), v.maxLength(MOST_CHARACTERS, `must be at most ${MOST_CHARACTERS} characters`), v.description(text))

/** What the model has been shown of the files, so that nothing is overwritten that it has not seen. */
export class Seen {
  private readonly digests = new Map<string, string>()

  note({ path }: Place, text: string): void {
    this.digests.set(path, digest(text))
  }

  isCurrent({ path }: Place, text: string): boolean {
    return this.digests.get(path) === digest(text)
  }
}

export function writingTools(folder: Folder, seen: Seen): Operation[] {
  const writeFile = ownTool({
    name: 'write_file',
    summary:
      'Write a text file in the working folder. A file that is there is only replaced with replace, after it has been read.',
    input: () =>
      v.object({
        path: pathInput(),
        text: content('the whole file'),
        replace: described(v.boolean(), 'replace what is there'),
      }),
    async run({ path, text, replace = false }) {
      const place = folder.writable(path)
      if (place.stat) refuseOverwriting(place, replace, seen)
      save(folder, place, text)
      seen.note(place, text)
      return { path: place.name, written: Buffer.byteLength(text), replaced: place.stat !== undefined }
    },
  })
  const editFile = ownTool({
    name: 'edit_file',
    summary: 'Replace a piece of a text file in the working folder by another. The piece must be in it exactly once.',
    input: () =>
      v.object({
        path: pathInput(),
        old: v.pipe(content('the piece as it stands, with its white space'), v.nonEmpty('must not be empty')),
        new: content('what is to stand there instead'),
        all: described(v.boolean(), 'replace it wherever it is'),
      }),
    async run({ path, old, new: instead, all = false }) {
      const place = folder.writable(path)
      if (!place.stat)
        throw new Problem('not_found', `There is no ${place.name}`, 'Make it with write_file.', { path: place.name })
      const text = textOf(place)
      const pieces = text.split(old)
      const times = pieces.length - 1
      if (times === 0)
        throw refused(
          place,
          'does not have this piece',
          'Read it again with read_file, and send the piece as it stands.',
        )
      if (times > 1 && !all)
        throw refused(place, `has this piece ${times} times`, 'Send more of the lines around it, or all.')
      const changed = pieces.join(instead)
      save(folder, place, changed)
      seen.note(place, changed)
      return { path: place.name, replaced: times }
    },
  })
  return [writeFile, editFile]
}

function refuseOverwriting(place: Place, replace: boolean, seen: Seen): void {
  const there = textOf(place)
  if (!replace) throw refused(place, 'is there already', 'Change it with edit_file, or read it and send replace.')
  if (!seen.isCurrent(place, there)) {
    throw refused(place, 'is not as you have seen it', 'Read it with read_file, and decide anew.')
  }
}

function refused({ name }: Place, fact: string, hint: string): Problem {
  return new Problem('move_refused', `${name} ${fact}`, hint, { path: name })
}

/** Written beside and renamed into place: whoever is killed leaves the old file or the new one. */
function save(folder: Folder, { path, name, stat }: Place, text: string): void {
  const beside = `${path}.${newId()}`
  try {
    makeFolder(folder.path, dirname(path), 0o777)
    writeDurably(beside, text, stat ? stat.mode & 0o7777 : 0o666 & ~process.umask())
    try {
      moveEntry(beside, path)
    } catch (error) {
      removeFile(beside)
      throw error
    }
  } catch (error) {
    throw unusable(name, error instanceof Problem ? 'ENOTDIR' : codeOf(error))
  }
}
