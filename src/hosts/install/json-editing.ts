import { type Splice, spliced } from '../../core/splices.ts'
import { type ArrayNode, type Node, type ObjectNode, readJson, Unreadable, uncommented } from './json.ts'

/**
 * Changes of a JSON text that leave every other byte as it is, and that can be
 * undone from the text alone. What is put into a container that was there and
 * empty stands between single blanks right before its end; a container that is
 * made ends on a line of its own. By that they are told apart when it is taken out.
 */
export type Path = readonly (string | number)[]

/** Adds a member, or an element where the last part of the path is a list's; makes what is missing on the way. */
export function withAdded(text: string, path: readonly string[], value: unknown, into: 'object' | 'array'): string {
  const names = into === 'object' ? path.slice(0, -1) : path
  const last = into === 'object' ? path.at(-1) : undefined
  let container: Node = readJson(text)
  for (const [depth, name] of names.entries()) {
    const next = childOf(text, container, name)
    if (next) {
      container = next
      continue
    }
    const missing = names.slice(depth + 1)
    const inner = last === undefined ? [value] : { [last]: value }
    return inserted(
      text,
      container as ObjectNode,
      name,
      missing.reduceRight<unknown>((made, key) => ({ [key]: made }), inner),
    )
  }
  if (container.kind !== into) throw new Unreadable(text, container.from, `${names.join('.')} should be an ${into}`)
  return inserted(text, container, last, value)
}

/** Takes out what stands there, and what was made for it; undefined where that is the whole text. */
export function withTaken(text: string, path: Path): string | undefined {
  const nodes: Node[] = [readJson(text)]
  for (const part of path.slice(0, -1)) nodes.push(at(nodes.at(-1)!, part)!.node)
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const container = nodes[depth] as ObjectNode | ArrayNode
    const index = container.children.findIndex(({ from }) => from === at(container, path[depth]!)!.from)
    if (container.children.length > 1) return spliced(text, cut(text, container, index))
    const only = container.children[0]!
    const around = text.slice(container.from + 1, only.from) + text.slice(only.to, container.to - 1)
    const wasThere = text[only.from - 1] === ' ' && text[only.to] === ' ' && only.to + 2 === container.to
    if (wasThere) return spliced(text, [gone(only.from - 1, only.to + 1)])
    const hasComment = /[^\s,]/.test(around)
    if (hasComment) return spliced(text, cutOnly(text, container, only))
  }
  return undefined
}

/** The last of that name counts, as it does for everyone who reads the file. */
function at(node: Node, part: string | number): { from: number; to: number; node: Node } | undefined {
  if (node.kind === 'array') return typeof part === 'number' ? node.children[part] : undefined
  return node.kind === 'object' ? node.children.findLast(({ key }) => key === part) : undefined
}

function childOf(text: string, node: Node, name: string): Node | undefined {
  if (node.kind !== 'object') throw new Unreadable(text, node.from, 'an object should be here')
  return at(node, name)?.node
}

function inserted(text: string, container: ObjectNode | ArrayNode, key: string | undefined, value: unknown): string {
  const eol = lineBreak(text)
  const unit = /\n([ \t]+)[^\s]/.exec(text)?.[1]?.replace(/^\t.*/, '\t') ?? '  '
  const last = container.children.at(-1)
  const outer = indentAt(text, container.from)
  const inner = last && startsLine(text, last.from) ? indentAt(text, last.from) : outer + unit
  const rendered = (indent: string) => {
    const lines = JSON.stringify(value, null, unit).split('\n')
    return (key === undefined ? '' : `${JSON.stringify(key)}: `) + lines.join(eol + indent)
  }
  if (!last) return spliced(text, [put(container.to - 1, ` ${rendered(outer)} `)])
  const bare = uncommented(text)
  const comma = /^\s*,/.exec(bare.slice(last.to, container.to))?.[0].length
  const end = last.to + (comma ?? 0)
  const remark = /^[ \t]*(?:\/\/|\/\*)[^\n\r]*/.exec(text.slice(end, container.to - 1))?.[0]
  // A remark after the last one belongs to it, and stays with it.
  const stays = remark !== undefined && bare.slice(end, end + remark.length).trim() === ''
  if (!stays) return spliced(text, [put(last.to, `,${eol}${inner}${rendered(inner)}`)])
  const below = put(end + remark.length, `${eol}${inner}${rendered(inner)}${comma === undefined ? '' : ','}`)
  return spliced(text, comma === undefined ? [put(last.to, ','), below] : [below])
}

/** One child of several, with the comma that goes with it. */
function cut(text: string, { children, to: end }: ObjectNode | ArrayNode, index: number): Splice[] {
  const [before, child, next] = [children[index - 1], children[index]!, children[index + 1]]
  const plain = (from: number, to: number) => /^\s*,\s*$/.test(text.slice(from, to))
  if (before && plain(before.to, child.from)) return [gone(before.to, child.to)]
  if (!before && next && plain(child.to, next.from)) return [gone(child.from, next.from)]
  const bare = uncommented(text)
  const after = /^\s*,/.exec(bare.slice(child.to, next?.from ?? end))?.[0].length
  const line = startsLine(text, child.from) ? lineStart(text, child.from) : child.from
  if (after !== undefined) return [gone(line, child.to + after)]
  const comma = bare.indexOf(',', before!.to)
  return [gone(comma, comma + 1), gone(line, child.to)]
}

function cutOnly(
  text: string,
  container: ObjectNode | ArrayNode,
  only: { readonly from: number; readonly to: number },
): Splice[] {
  const after = /^\s*,/.exec(uncommented(text).slice(only.to, container.to))?.[0].length ?? 0
  return [gone(startsLine(text, only.from) ? lineStart(text, only.from) : only.from, only.to + after)]
}

/** Where the line break before this line stands. */
function lineStart(text: string, place: number): number {
  const newline = text.lastIndexOf('\n', place - 1)
  return newline > 0 && text[newline - 1] === '\r' ? newline - 1 : newline
}

function startsLine(text: string, place: number): boolean {
  const newline = text.lastIndexOf('\n', place - 1)
  return newline !== -1 && text.slice(newline + 1, place).trim() === ''
}

function indentAt(text: string, place: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', place - 1) + 1))![0]
}

/** As the first line ends. */
export function lineBreak(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

function put(place: number, text: string): Splice {
  return { from: place, to: place, text }
}

function gone(from: number, to: number): Splice {
  return { from, to, text: '' }
}
