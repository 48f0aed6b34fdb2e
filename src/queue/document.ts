import { oneLine, outline, tidy } from '../core/markdown.ts'
import { meant, plain } from './plain.ts'

/** Something that stands in a file, and where. */
interface Part {
  readonly text: string
  readonly line: number
}

/** A header line, `**Type:** Standard`, and the list below it if there is one. */
interface Header extends Part {
  readonly key: string
  /** Whether its name is in bold. */
  readonly bold: boolean
  readonly items: readonly string[]
}

/** A markdown file of a task: title, header lines above the first section, sections. */
export interface Document {
  readonly title: Part | undefined
  readonly headers: readonly Header[]
  /** By the key of the heading. */
  readonly sections: ReadonlyMap<string, Part>
}

/** Names of headers and sections are compared without case, spaces and signs. */
export function keyOf(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/**
 * What a text says whose first line has this number in its file. A header line
 * whose name is not in bold counts only where its key is one of `plainKeys`:
 * any other is prose with a colon in it.
 */
export function documentOf(text: string, firstLine = 1, plainKeys?: ReadonlySet<string>): Document {
  const lines = `\n${text.charCodeAt(0) === 0xfeff ? text.slice(1) : text}`
  const { headings, fences } = outline(lines, 0)
  const high = headings.filter(({ level }) => level <= 2)
  const title = high.find(({ level }) => level === 1)
  const dividing = high.slice(high[0] === title ? 1 : 0)
  const head = lines.slice(0, dividing[0]?.start)
  const lineAt = lineCounter(lines, firstLine - 1)
  const sections = new Map<string, { line: number; texts: string[] }>()
  for (const [n, { level, text: name, start, end }] of dividing.entries()) {
    if (level === 1) continue
    const key = keyOf(name)
    let section = sections.get(key)
    if (!section) sections.set(key, (section = { line: lineAt(start), texts: [] }))
    section.texts.push(meant(tidy(lines.slice(end, dividing[n + 1]?.start))))
  }
  return {
    title: title && { text: oneLine(title.text), line: lineCounter(lines, firstLine - 1)(title.start) },
    headers: headersIn(head, fences, firstLine - 1, plainKeys),
    sections: new Map(
      Array.from(sections, ([key, { line, texts }]) => [key, { line, text: texts.filter(Boolean).join('\n\n') }]),
    ),
  }
}

/** What may be written: what is nothing, or blank, is left out. */
type Written = Readonly<Record<string, string | null | undefined>>

/** A file as we write it. Nothing in its texts is read as a title, a header or a section. */
export function documentText(title: string, headers: Written, sections: Written = {}): string {
  const head = Object.entries(headers).flatMap(([name, value]) =>
    value ? [`**${name}:** ${oneLine(value)}`.trimEnd()] : [],
  )
  const parts = Object.entries(sections).flatMap(([name, value]) => {
    const text = plain(tidy(value ?? ''))
    return text === '' ? [] : [`## ${name}`, text]
  })
  return `${[`# ${oneLine(title)}`, ...(head.length > 0 ? [head.join('\n')] : []), ...parts].join('\n\n')}\n`
}

const HEADER = /^[ \t]*(?:[-*+][ \t]+)?\*\*([^*:]{1,60})(?::[ \t]*\*\*|\*\*[ \t]*:)(.*)$/s
/** `Type: Standard`, and the same with the name, or the name and its colon, in italics or in code. */
const PLAIN = /^[ \t]*(?:[-*+>][ \t]+)?([*_`]{0,3})([a-z][a-z _-]{0,30})(?:\1[ \t]*:|:[ \t]*\1)(?=[ \t\r]|$)(.*)$/is
const ITEM = /^[ \t]*[-*+][ \t]+(.*)$/s

function headersIn(
  head: string,
  fences: readonly (readonly [number, number])[],
  linesBefore: number,
  plainKeys: ReadonlySet<string> = new Set(),
): Header[] {
  const found: { key: string; bold: boolean; line: number; text: string; items: string[] }[] = []
  let fence = 0
  let start = 0
  for (const [n, line] of head.split('\n').entries()) {
    while (fence < fences.length && fences[fence]![1] < start) fence++
    const inCode = fence < fences.length && fences[fence]![0] <= start
    start += line.length + 1
    if (inCode) continue
    const header = headerIn(line, plainKeys)
    const [, item] = header ? [] : (ITEM.exec(line) ?? [])
    if (header) found.push({ ...header, line: n + linesBefore, items: [] })
    else if (item !== undefined) found.at(-1)?.items.push(oneLine(item))
  }
  return found
}

function headerIn(line: string, plainKeys: ReadonlySet<string>): Pick<Header, 'key' | 'bold' | 'text'> | undefined {
  const [, name, value = ''] = HEADER.exec(line) ?? []
  if (name !== undefined) return { key: keyOf(name), bold: true, text: oneLine(value) }
  const [, , word, text = ''] = plainKeys.size > 0 ? (PLAIN.exec(line) ?? []) : []
  const key = keyOf(word ?? '')
  return plainKeys.has(key) ? { key, bold: false, text: oneLine(text) } : undefined
}

/** Counts lines on the way from one place to a later one, so that each is passed once. */
function lineCounter(lines: string, before: number): (at: number) => number {
  let line = before
  let next = lines.indexOf('\n')
  return at => {
    for (; next >= 0 && next < at; next = lines.indexOf('\n', next + 1)) line++
    return line
  }
}
