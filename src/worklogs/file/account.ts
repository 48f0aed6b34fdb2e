import type { Account } from '../record.ts'
import { type Place, Places } from './places.ts'
import { quickly } from './quick.ts'
import { Reader } from './reader.ts'

/**
 * What a worklog's text tells, whoever wrote it. `brief` where thousands of
 * sections are only counted: then subtasks may have no words, and neither files
 * nor times need to be told.
 */
export function accountOf(body: string, brief = false): Account {
  const quick = quickly(body, brief)
  if (quick) return quick
  const { sections, decisions } = readerOf(body)
  return { sections, decisions }
}

/** The same, and where each section stands. */
export function placesIn(body: string): Account & { readonly level: number; readonly places: readonly Place[] } {
  const { sections, decisions, level, places } = readerOf(body, () => new Places())
  return { sections, decisions, level: sections.length > 0 ? level : 2, places: places!.all }
}

/** The tasks are at the second level of headings, or where the first of them is. */
function readerOf(body: string, places?: () => Places): Reader {
  const reader = new Reader(body, 2, places?.())
  reader.read()
  if (reader.sections.length > 0 || reader.other === 0) return reader
  const again = new Reader(body, reader.other, places?.())
  again.read()
  return again
}
