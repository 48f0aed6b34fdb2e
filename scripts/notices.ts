import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name: string }
  readonly repository?: string | { readonly url: string }
}

/** The licences that we know, each with the words that its full text begins and ends with. */
const KNOWN: Readonly<Record<string, readonly [begins: string, ends: string]>> = {
  MIT: ['Permission is hereby granted, free of charge', 'DEALINGS IN THE SOFTWARE'],
  'Apache-2.0': ['TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION', 'END OF TERMS AND CONDITIONS'],
}

/**
 * Returns the licences of packages, given their folders, each with its full
 * text: what the package says itself, and the standard text of its licence where
 * that is missing there. Throws for a licence that we do not know.
 */
export function notices(folders: readonly string[]): string {
  return `# What punchlist includes\n\n${folders.toSorted().map(noticeOf).join('\n')}`
}

function noticeOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const { name, version, license } = manifest
  if (license === undefined || !Object.hasOwn(KNOWN, license)) {
    throw new Error(
      `${name} ${version} has the licence ${license ?? '(none)'}: read it, and add its text to scripts/licences and to ${import.meta.filename}`,
    )
  }
  const own = readdirSync(folder)
    .filter(entry => /^(?:licen[cs]e|notice|copying)(?:\.(?:md|txt))?$/i.test(entry))
    .toSorted()
    .map(entry => readFileSync(join(folder, entry), 'utf8').trim())
  const parts = own.some(text => isFull(text, license)) ? own : [...own, ...standard(manifest, license, own)]
  return `## ${name} ${version} (${license})\n\n${parts.join('\n\n')}\n`
}

/** Whether a text has all of a licence in it, however its lines are broken. */
export function isFull(text: string, license: string): boolean {
  const words = text.replace(/\s+/g, ' ')
  const [begins, ends] = KNOWN[license]!
  const start = words.indexOf(begins)
  return start !== -1 && words.indexOf(ends, start) !== -1
}

function standard(manifest: Manifest, license: string, own: readonly string[]): string[] {
  const text = readFileSync(join(import.meta.dirname, 'licences', `${license}.txt`), 'utf8').trim()
  return own.some(one => /copyright/i.test(one)) ? [text] : [`Copyright (c) ${holderOf(manifest)}`, text]
}

/** Its author; where it names none, all there are. */
function holderOf({ name, author, repository }: Manifest): string {
  const named = typeof author === 'string' ? author : author?.name
  const url = typeof repository === 'string' ? repository : repository?.url
  return named ?? `the authors of ${name}${url === undefined ? '' : ` (${url})`}`
}
