import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { codeOf } from '../core/disk.ts'
import { readBytes } from '../core/files.ts'
import { described, wholeNumber } from '../core/input.ts'
import type { Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Conceal } from './concealing.ts'
import { type Folder, type Place, unusable } from './folder.ts'
import { ownTool } from './tool.ts'

const LARGEST_FILE = 10 * 1024 * 1024
/** So much of a file in one answer, and so many names. */
const MOST_CHARACTERS = 50_000
const MOST_NAMES = 1000
/** Folders whose content is nobody's own work. */
const PASSED_OVER = new Set(['.git', '.punchlist', 'node_modules'])

export const pathInput = () =>
  v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(1000), v.description('below the working folder'))

/** `conceal` takes the key out: a file may hold it. */
export function readingTools(
  folder: Folder,
  conceal: Conceal,
  seen: (place: Place, text: string) => void,
): Operation[] {
  const readFile = ownTool({
    name: 'read_file',
    summary: 'Read a text file of the working folder.',
    input: () =>
      v.object({
        path: pathInput(),
        from: described(wholeNumber(1, 10_000_000), 'the line to begin with; 1 if absent'),
      }),
    async run({ path, from = 1 }) {
      const place = folder.existing(path)
      const text = textOf(place)
      // One that holds the key is not shown as it is, and so not to be replaced as a whole.
      if (conceal(text) === text) seen(place, text)
      const lines = text.split('\n')
      const { page, shown } = pageOf(lines, from)
      const last = from + shown - 1
      const more = last < lines.length ? { more: `line ${last + 1} and on: send from` } : {}
      return { path: place.name, lines: lines.length, text: conceal(page), ...more }
    },
  })
  const listFiles = ownTool({
    name: 'list_files',
    summary: 'List the files of the working folder, or of a folder in it. Folders end with a slash.',
    input: () =>
      v.object({
        path: v.optional(pathInput(), '.'),
        recursive: described(v.boolean(), 'with everything below; node_modules and .git are passed over'),
      }),
    async run({ path, recursive = false }) {
      const place = folder.existing(path)
      if (!place.stat.isDirectory())
        throw new Problem('bad_input', `${place.name} is no folder`, 'Read it with read_file.', { path: place.name })
      const names = namesIn(place, recursive)
      const more = names.length > MOST_NAMES ? { more: 'there are more: list a folder in it' } : {}
      return { path: place.name, files: names.slice(0, MOST_NAMES), ...more }
    },
  })
  return [readFile, listFiles]
}

/** The text of a file, to the last byte. */
export function textOf({ path, name, stat }: Place): string {
  if (!stat?.isFile())
    throw new Problem('bad_input', `${name} is no file`, 'See what there is with list_files.', { path: name })
  if (stat.size > LARGEST_FILE) {
    throw new Problem(
      'bad_input',
      `${name} has ${stat.size} bytes, more than ${LARGEST_FILE}`,
      'Leave it, or use a smaller file.',
      {
        path: name,
        size: stat.size,
      },
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      withoutZeros(readBytes(path, LARGEST_FILE, 'anyone'), name),
    )
  } catch (error) {
    if (error instanceof Problem) throw error
    throw error instanceof TypeError ? binary(name) : unusable(name, codeOf(error))
  }
}

function withoutZeros(bytes: Buffer | undefined, name: string): Buffer {
  if (!bytes) throw unusable(name, 'ENOENT')
  if (bytes.includes(0)) throw binary(name)
  return bytes
}

function binary(name: string): Problem {
  return new Problem('bad_input', `${name} is no text in UTF-8`, 'Leave it: only text can be read and written.', {
    path: name,
  })
}

/** As many lines as fit in an answer; of a line that is too long, its beginning. */
function pageOf(lines: readonly string[], from: number): { page: string; shown: number } {
  let size = 0
  const fitting = lines.slice(from - 1).findIndex(line => (size += line.length + 1) > MOST_CHARACTERS)
  const shown = fitting === -1 ? Math.max(0, lines.length - from + 1) : Math.max(1, fitting)
  const page = lines.slice(from - 1, from - 1 + shown).join('\n')
  return {
    page: page.length > MOST_CHARACTERS ? `${page.slice(0, MOST_CHARACTERS).toWellFormed()} [the line goes on]` : page,
    shown,
  }
}

function namesIn(place: Place, recursive: boolean): string[] {
  const found: string[] = []
  const folders = [{ path: place.path, prefix: '' }]
  for (const { path, prefix } of folders) {
    for (const entry of entriesOf(path, place.name)) {
      const isFolder = entry.isDirectory()
      found.push(`${prefix}${entry.name}${isFolder ? '/' : ''}`)
      // Links are named and not followed.
      if (recursive && isFolder && !PASSED_OVER.has(entry.name))
        folders.push({ path: join(path, entry.name), prefix: `${prefix}${entry.name}/` })
      if (found.length > MOST_NAMES) return found
    }
  }
  return found
}

function entriesOf(path: string, name: string) {
  try {
    return readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw unusable(name, codeOf(error))
  }
}
