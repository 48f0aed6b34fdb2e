import { oneLine } from '../core/markdown.ts'
import { documentText } from './document.ts'
import { isTaskId } from './names.ts'

export const WAIVERS = 'waived.md'

/** By id: why a task goes on without another. */
export type Waivers = Readonly<Record<string, string>>

export function renderWaivers(waived: Waivers): string {
  const lines = Object.entries(waived).map(([id, reason]) => `- **${id}:** ${oneLine(reason)}`.trimEnd())
  return `${documentText('Waived', {})}${lines.length > 0 ? `\n${lines.join('\n')}\n` : ''}`
}

/** What was waived; a line that names no task is left out. */
export function readWaivers(text: string): Waivers {
  const found = text.split('\n').flatMap(line => {
    const [, id = '', reason = ''] = LINE.exec(line) ?? []
    return isTaskId(id) ? [[id, oneLine(reason)] as const] : []
  })
  return Object.fromEntries(found)
}

const LINE = /^[ \t]*[-*+][ \t]+\*\*(req_[\d_]{1,200})(?::[ \t]*\*\*|\*\*[ \t]*:)(.*)$/s
