import { nodeOf } from '../../core/yaml/value.ts'
import type { Worklog } from '../record.ts'
import { entriesIn } from './foreign.ts'
import { textOf } from './values.ts'

/** What is passed over in the frontmatter of a worker's file. */
export function remarksOn({ worker, status, extra }: Worklog): string[] {
  const remarks: string[] = []
  let said = false
  for (const { entry } of entriesIn(extra)) {
    const key = entry.key?.toLowerCase() ?? ''
    if (COUNTER.test(key)) remarks.push(`${entry.key}: counters are derived from the sections; ignored`)
    if (key !== 'worker' && key !== 'status') continue
    const node = nodeOf(entry)
    const words = shown('message' in node ? entry.rest : (textOf(node.value) ?? ''))
    if (key === 'worker') remarks.push(`worker: ${words} is not the name of the file; taken as ${worker}`)
    else if (status === 'unknown') {
      said = true
      remarks.push(`status: ${words} is none of active, completed, interrupted; taken as unknown`)
    }
  }
  if (status === 'unknown' && !said) remarks.push('status: is missing; taken as unknown')
  return remarks
}

const COUNTER = /^(?:(?:sub)?tasks?[_-].+|.+[_-](?:sub)?tasks|(?:.+[_-])?(?:counts?|counters?))$/

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text)
}
