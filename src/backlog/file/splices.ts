import type { Happening } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { appended, contentEnd, inserted, linesBelow, passageSplice, type Splice } from '../../core/splices.ts'
import { keySplices } from '../../core/yaml/editing.ts'
import { keyLine } from '../../core/yaml/writing.ts'
import type { Document } from './document.ts'
import { HISTORY, row, TABLE_HEAD } from './history.ts'
import { storable } from './storable.ts'
import { KEYS } from './values.ts'

/** The lines of the fields that have another value now. */
export function fieldSplices(text: string, { front, values, places }: Document, fields: Fields): Splice[] {
  return keySplices(
    text,
    front,
    KEYS.map((key, place) => {
      const value = fields[key] === undefined ? undefined : storable(fields, key)
      const stays = value === undefined || JSON.stringify(value) === JSON.stringify(values[key])
      return { entry: places[place], line: stays ? undefined : keyLine(key, value) }
    }),
  )
}

/** One more row in the history; table and section are made where there are none. */
export function rowSplice(text: string, { front: { eol }, layout }: Document, happened: Happening): Splice {
  const line = row(happened)
  const { heading, table } = layout
  if (table) return linesBelow(text, table.end, [line], eol)
  const head = TABLE_HEAD.replaceAll('\n', eol)
  if (heading) {
    const close = text.slice(heading.end + 1).search(/\S/) === 0 ? eol : ''
    return inserted(contentEnd(text, heading.end), `${eol}${eol}${head}${eol}${line}${close}`)
  }
  return appended(text, `## ${HISTORY}${eol}${eol}${head}${eol}${line}`, eol)
}

export function bodySplice(text: string, { front: { eol }, layout }: Document, body: string): Splice {
  return passageSplice(text, { ...layout.body, next: layout.heading?.start }, body, eol)
}
