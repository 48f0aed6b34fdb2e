import type { FileForm } from '../../core/kind.ts'
import { tidy } from '../../core/markdown.ts'
import { Problem } from '../../core/problem.ts'
import { spliced, unlessBroken } from '../../core/splices.ts'
import { whole } from '../../core/yaml/writing.ts'
import { type Document, documentOf } from './document.ts'
import { asRead } from './history.ts'
import { bodySplice, fieldSplices, rowSplice } from './splices.ts'
import { storable } from './storable.ts'
import { KEYS } from './values.ts'

/** Changes the lines that a change is about, one part of the file after the other, then reads the outcome to be sure. */
export const edited: FileForm['edit'] = (text, { fields, texts, happened = [] }) => {
  const before = readable(text)
  const body = texts?.['body'] === undefined ? before.body : tidy(whole(texts['body']))
  let after = spliced(text, fieldSplices(text, before, fields))
  if (body !== before.body) after = spliced(after, [bodySplice(after, readable(after), body)])
  for (const one of happened) after = spliced(after, [rowSplice(after, readable(after), one)])
  if (after === text) return text
  const wanted = {
    ...Object.fromEntries(
      KEYS.map(key => [key, fields[key] === undefined ? before.values[key] : storable(fields, key)]),
    ),
    body,
    title: before.layout.title,
    history: [...(before.layout.table?.rows ?? []), ...happened.map(asRead)],
    foreign: before.foreign,
    tail: before.layout.tail,
  }
  const { values, body: newBody, layout, foreign } = readable(after)
  const history = layout.table?.rows ?? []
  const found = { ...values, body: newBody, title: layout.title, history, foreign, tail: layout.tail }
  const wrong = Object.keys(wanted).find(
    key => JSON.stringify(wanted[key as keyof typeof wanted]) !== JSON.stringify(found[key as keyof typeof found]),
  )
  if (wrong !== undefined) {
    throw new Problem(
      'unreadable_file',
      `the file cannot be changed: its ${wrong} would not read as it should afterwards`,
      'Make the change in the file by hand, with an editor.',
      { part: wrong },
    )
  }
  return after
}

function readable(text: string): Document {
  return unlessBroken(documentOf(text))
}
