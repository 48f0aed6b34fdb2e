import type { Account } from '../record.ts'
import { Reader } from './reader.ts'

/** What a worklog's text tells, whoever wrote it. */
export function accountOf(body: string): Account {
  const { sections, decisions } = readerOf(body)
  return { sections, decisions }
}

/** The reader that has gone through a text: the tasks are at the second level of headings, or where the first of them is. */
export function readerOf(body: string): Reader {
  const reader = new Reader(body, 2)
  reader.read()
  if (reader.sections.length > 0 || reader.other === 0) return reader
  const again = new Reader(body, reader.other)
  again.read()
  return again
}
