import type { Complaint } from '../kind.ts'
import type { Line } from './frontmatter.ts'
import { stripped } from './spaces.ts'

/**
 * A text in block form: after `|` its lines as they are, after `>` joined into
 * paragraphs. Line breaks at its end are left out, whatever the sign says of them.
 */
export function blockText(head: string, lines: readonly Line[], line: number, base: number): string | Complaint {
  const form = /^([|>])[+-]?([1-9])?[+-]?(?:[ \t]+#.*)?$/.exec(head)
  if (!form)
    return { line, message: `"${head.slice(0, 40)}" cannot be read; put text that begins with ${head[0]} in quotes` }
  const first = lines.find(({ text }) => stripped(text) !== '')
  if (!first) return ''
  const indent = form[2] ? base + Number(form[2]) : Math.max(leading(first.text), 1)
  const texts: string[] = []
  for (const { text, line: at } of lines) {
    if (stripped(text) === '') texts.push(text.slice(indent))
    else if (leading(text) < indent)
      return { line: at, message: 'this line is indented less than the text it belongs to' }
    else texts.push(text.slice(indent))
  }
  return (form[1] === '|' ? texts.join('\n') : folded(texts)).replace(/(?<!\n)\n+$/, '')
}

function leading(text: string): number {
  return text.length - text.replace(/^ +/, '').length
}

/** Lines that are indented further keep their breaks. */
function folded(lines: readonly string[]): string {
  let text = ''
  let last: string | undefined
  let blank = 0
  for (const line of lines) {
    if (line === '') {
      blank++
      continue
    }
    const keeps = line[0] === ' ' || line[0] === '\t' || last?.[0] === ' ' || last?.[0] === '\t'
    if (last === undefined) text += '\n'.repeat(blank)
    else if (keeps) text += '\n'.repeat(blank + 1)
    else text += blank === 0 ? ' ' : '\n'.repeat(blank)
    text += line
    last = line
    blank = 0
  }
  return text
}
