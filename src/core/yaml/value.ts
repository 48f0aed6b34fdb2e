import type { Complaint } from '../kind.ts'
import { blockText } from './block.ts'
import { flowValue } from './flow.ts'
import type { Line } from './frontmatter.ts'
import { indentOf, stripped, strippedEnd } from './spaces.ts'

export type Value = string | null | readonly string[]

/** A value, and what stood beside it. */
export interface Node {
  readonly value: Value
  /** Written without quotes or brackets. */
  readonly plain: boolean
  /** The comment on the line of the key, with the space before it. */
  readonly comment: string
  /** Comments on lines of their own. */
  readonly comments: readonly Line[]
}

/** A value as it is written: what follows the key, or the dash of a list item, and the lines below. */
interface Source {
  readonly line: number
  readonly rest: string
  readonly more: readonly Line[]
  /** How far the key or the dash is indented: not at all when absent. */
  readonly indent?: number
}

/**
 * The value of a key: text, nothing, or a list of texts. Every other thing that
 * YAML knows is a complaint, as no key of ours holds it. What YAML takes for a
 * number, a date or a truth value stays the text that it is.
 */
export function nodeOf(source: Source): Node | Complaint {
  const { rest, more, line } = source
  // What our own files are full of.
  if (more.length === 0) {
    if (rest === ' null') return NOTHING
    if (rest === ' []') return EMPTY
    if (SIMPLE.test(rest)) return plainNode(meaning(stripped(rest)), '', NONE)
    if (QUOTED.test(rest)) return { value: rest.slice(2, -1), plain: false, comment: '', comments: NONE }
  }
  const first = stripped(rest)
  switch (first[0]) {
    case undefined:
    case '#':
      return below(source)
    case '|':
    case '>': {
      const text = blockText(first, more, line, source.indent ?? 0)
      return typeof text === 'object' ? text : { value: text || null, plain: false, comment: '', comments: NONE }
    }
    case '"':
    case "'":
    case '[':
      return flowNode(source)
    case '{':
      return { line, message: 'a map stands where a text or a list is expected' }
    case '&':
    case '*':
    case '!':
      return { line, message: `"${first.slice(0, 40)}" is an anchor, an alias or a tag; put text in quotes` }
    case '-':
      if (first === '-' || first[1] === ' ') return { line, message: 'a list item must stand on a line of its own' }
  }
  return plainText(source)
}

const NONE: readonly Line[] = []
const NOTHING: Node = { value: null, plain: true, comment: '', comments: NONE }
const EMPTY: Node = { value: Object.freeze([]), plain: false, comment: '', comments: NONE }
const TAB = 'indented with a tab: use spaces'
const QUOTED = /^ "[^"\\]+"$/
const SIMPLE = /^ ?[\w/][\w./-]*$/

function plainNode(value: Value, comment: string, comments: readonly Line[]): Node {
  return { value, plain: true, comment, comments }
}

function meaning(text: string): string | null {
  return text === '' || text === 'null' || text === '~' || text === 'Null' || text === 'NULL' ? null : text
}

function isComment({ text }: Line): boolean {
  return text[indentOf(text)] === '#'
}

function isNothing(line: Line): boolean {
  return stripped(line.text) === '' || isComment(line)
}

/** Nothing beside the key: the value is nothing, or begins on a line below. */
function below({ rest, more, indent = 0 }: Source): Node | Complaint {
  const begin = more.findIndex(line => !isNothing(line))
  const comments = (begin < 0 ? more : more.slice(0, begin)).filter(isComment)
  const comment = stripped(rest) === '' ? '' : strippedEnd(rest)
  if (begin < 0) return plainNode(null, comment, comments)
  const { text, line } = more[begin]!
  if (hasTab(text)) return { line, message: TAB }
  if (isItem(text)) return listOf(more.slice(begin), comment, comments)
  if (isMap(text)) return { line, message: 'a map stands where a text or a list is expected' }
  const node = nodeOf({ line, rest: text, more: more.slice(begin + 1), indent })
  return 'message' in node ? node : { ...node, comment, comments: [...comments, ...node.comments] }
}

/** Whether a line is indented with a tab. */
function hasTab(text: string): boolean {
  return text.slice(0, indentOf(text)).includes('\t')
}

function isItem(text: string): boolean {
  const words = stripped(text)
  return words[0] === '-' && (words.length === 1 || words[1] === ' ' || words[1] === '\t')
}

function isMap(text: string): boolean {
  const words = stripped(text)
  return !/^["'[{|>#]/.test(words) && (words.includes(': ') || words.endsWith(':'))
}

function listOf(lines: readonly Line[], comment: string, before: readonly Line[]): Node | Complaint {
  const indent = indentOf(lines[0]!.text)
  const comments = [...before]
  const values: string[] = []
  for (let n = 0; n < lines.length; ) {
    const { text, line } = lines[n]!
    let next = n + 1
    if (isNothing(lines[n]!)) {
      if (isComment(lines[n]!)) comments.push(lines[n]!)
      n = next
      continue
    }
    if (hasTab(text)) return { line, message: TAB }
    if (!isItem(text) || indentOf(text) !== indent) return { line, message: 'this line does not fit the list above it' }
    while (next < lines.length && (stripped(lines[next]!.text) === '' || indentOf(lines[next]!.text) > indent)) next++
    const rest = text.slice(indent + 1)
    if (isMap(rest)) return { line, message: 'a map stands where a text is expected; put text with a colon in quotes' }
    const more = lines.slice(n + 1, next)
    // Seen from outside: to go down list by list takes the longer the deeper they are.
    const inner = stripped(rest) === '' ? more.find(each => !isNothing(each)) : undefined
    if (inner && isItem(inner.text)) return { line, message: 'a list stands inside a list' }
    const node = nodeOf({ line, rest, more, indent })
    if ('message' in node) return node
    if (typeof node.value === 'object' && node.value) return { line, message: 'a list stands inside a list' }
    if (node.value !== null) values.push(node.value)
    comments.push(...node.comments)
    n = next
  }
  return { value: values, plain: false, comment, comments }
}

function flowNode({ rest, more, line }: Source): Node | Complaint {
  const text = more.length === 0 ? rest : [rest, ...more.map(each => each.text)].join('\n')
  const found = flowValue(text, indentOf(rest), line)
  if ('message' in found) return found
  const newline = text.indexOf('\n', found.end)
  const over = strippedEnd(text.slice(found.end, newline < 0 ? text.length : newline))
  const used = newline < 0 ? more.length : more.length - (text.slice(newline).split('\n').length - 1)
  const left = more.slice(used)
  const wrong = /^(?:[ \t]+#|$)/.test(over) ? left.find(each => !isNothing(each))?.line : line + used
  if (wrong !== undefined) return { line: wrong, message: 'more text after the end of the value' }
  return { value: found.value, plain: false, comment: used === 0 ? over : '', comments: left.filter(isComment) }
}

/** Text without quotes; on several lines it reads as if on one, and a blank line as a line break. */
function plainText({ rest, more }: Source): Node | Complaint {
  const cut = commentIn(rest)
  const value = stripped(rest.slice(0, cut))
  const comment = strippedEnd(rest.slice(cut - spaceBefore(rest, cut)))
  const comments: Line[] = []
  let text = value
  let breaks = 0
  for (const each of more) {
    const words = stripped(each.text.slice(0, commentIn(each.text)))
    if (isComment(each)) comments.push(each)
    else if (words === '') breaks++
    else if (hasTab(each.text)) return { line: each.line, message: TAB }
    else if (comment !== '' || comments.length > 0 || isMap(words))
      return { line: each.line, message: 'this line does not fit the value above it' }
    else {
      text += (breaks === 0 ? ' ' : '\n'.repeat(breaks)) + words
      breaks = 0
    }
  }
  return plainNode(text === value ? meaning(text) : text, comment, comments)
}

/** Where a comment begins: at a # after a space. */
function commentIn(text: string): number {
  for (let at = text.indexOf('#'); at >= 0; at = text.indexOf('#', at + 1)) {
    if (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) return at
  }
  return text.length
}

function spaceBefore(text: string, at: number): number {
  return at === text.length ? 0 : at - strippedEnd(text.slice(0, at)).length
}
