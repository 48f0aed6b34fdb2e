import type { Complaint } from '../../core/kind.ts'
import type { Entry } from '../../core/yaml/frontmatter.ts'
import { nodeOf } from '../../core/yaml/value.ts'
import type { Worklog, WorklogStatus } from '../record.ts'
import { documentOf } from './document.ts'
import { entriesIn } from './foreign.ts'
import { textOf } from './values.ts'

/** What is passed over in the frontmatter of a worklog, wherever it is kept. */
export function remarksOn({ worker, status, extra }: Worklog): string[] {
  const entries = entriesIn(extra).map(({ entry }) => entry)
  return remarksAbout(entries, worker, status).map(({ message }) => message)
}

/** The same of a worker's file, each with its line; none for a file that cannot be read. */
export function remarksIn(text: string, worker: string): Complaint[] {
  const document = documentOf(text)
  if ('message' in document) return []
  const { front, values } = document
  const isNamed = document.worker === null || document.worker === worker
  const entries = isNamed ? front.entries.filter(({ key }) => key?.toLowerCase() !== 'worker') : front.entries
  return remarksAbout(entries, worker, values.status)
}

function remarksAbout(entries: readonly Entry[], worker: string, status: WorklogStatus): Complaint[] {
  const remarks: Complaint[] = []
  let said = false
  for (const entry of entries) {
    const { line } = entry
    const key = entry.key?.toLowerCase() ?? ''
    if (COUNTER.test(key))
      remarks.push({ line, message: `${entry.key}: counters are derived from the sections; ignored` })
    if (key !== 'worker' && key !== 'status') continue
    const node = nodeOf(entry)
    const words = shown('message' in node ? entry.rest : (textOf(node.value) ?? ''))
    if (key === 'worker')
      remarks.push({ line, message: `worker: ${words} is not the name of the file; taken as ${worker}` })
    else if (status === 'unknown') {
      said = true
      remarks.push({ line, message: `status: ${words} is none of active, completed, interrupted; taken as unknown` })
    }
  }
  if (status === 'unknown' && !said) remarks.push({ line: 1, message: 'status: is missing; taken as unknown' })
  return remarks
}

const COUNTER = /^(?:(?:sub)?tasks?[_-].+|.+[_-](?:sub)?tasks|(?:.+[_-])?(?:counts?|counters?))$/

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text)
}
