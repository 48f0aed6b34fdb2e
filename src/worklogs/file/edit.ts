import type { FileForm } from '../../core/kind.ts'
import { tidy } from '../../core/markdown.ts'
import { Problem } from '../../core/problem.ts'
import { passageSplice, spliced, unlessBroken } from '../../core/splices.ts'
import { keySplices } from '../../core/yaml/editing.ts'
import { keyLine, whole } from '../../core/yaml/writing.ts'
import { FRONTMATTER } from '../record.ts'
import { type Document, documentOf } from './document.ts'
import { storable } from './values.ts'

/** Changes the lines that a change is about, then reads the outcome to be sure. The worker of a file is its name, which stays. */
export const edited: FileForm['edit'] = (text, { fields, texts }) => {
  const before = readable(text)
  const body = texts?.['body'] === undefined ? before.body : tidy(whole(texts['body']))
  const wanted: Record<string, unknown> = { ...before, ...before.values, body }
  const keys = FRONTMATTER.map((key, place) => {
    const entry = before.places[place]
    if (key === 'worker' || fields[key] === undefined) return { entry, line: undefined }
    const value = storable(fields, key)
    wanted[key] = value
    return { entry, line: value === before.values[key] ? undefined : keyLine(entry?.key ?? key, value) }
  })
  let after = spliced(text, keySplices(text, before.front, keys))
  if (body !== before.body) {
    const { front, passage } = readable(after)
    after = spliced(after, [passageSplice(after, passage, body, front.eol)])
  }
  if (after === text) return text
  const now = readable(after)
  const found: Record<string, unknown> = { ...now, ...now.values }
  const wrong = PARTS.find(part => JSON.stringify(wanted[part]) !== JSON.stringify(found[part]))
  if (wrong === undefined) return after
  throw new Problem(
    'unreadable_file',
    `the file cannot be changed: its ${wrong} would not read as it should afterwards`,
    'Make the change in the file by hand, with an editor.',
    { part: wrong },
  )
}

const PARTS = [...FRONTMATTER, 'foreign', 'body'] as const

function readable(text: string): Document {
  return unlessBroken(documentOf(text))
}
