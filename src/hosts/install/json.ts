/** A value in a JSON text, and where it stands. Comments and trailing commas are allowed: some hosts take them. */
export type Node = ObjectNode | ArrayNode | ValueNode

interface Span {
  readonly from: number
  readonly to: number
}

export interface ObjectNode extends Span {
  readonly kind: 'object'
  readonly children: readonly Member[]
}

export interface ArrayNode extends Span {
  readonly kind: 'array'
  readonly children: readonly Element[]
}

interface ValueNode extends Span {
  readonly kind: 'value'
  readonly value: string | number | boolean | null
}

/** What stands in an object, its key included. */
interface Member extends Span {
  readonly key: string
  readonly node: Node
}

interface Element extends Span {
  readonly node: Node
}

/** Why a text cannot be read, and in which line. */
export class Unreadable extends Error {
  readonly line: number

  constructor(text: string, at: number, message: string) {
    super(message)
    this.line = text.slice(0, at).split('\n').length
  }
}

const DEEPEST = 200

export function readJson(text: string): Node {
  const bare = uncommented(text)
  let at = 0

  const broken = (message: string) => new Unreadable(text, at, message)
  const blank = () => {
    while (at < bare.length && /[\s\uFEFF]/.test(bare[at]!)) at++
  }
  const expected = (what: string) =>
    broken(at >= bare.length ? `it ends where ${what} should be` : `${what} should be here, not ${shown(text, at)}`)

  function node(depth: number): Node {
    if (depth > DEEPEST) throw broken('it is nested too deeply')
    if (bare[at] === '{') return { kind: 'object', ...within('}', () => member(depth)) }
    if (bare[at] === '[') return { kind: 'array', ...within(']', () => element(depth)) }
    return value()
  }

  function within<T>(end: string, one: () => T): Span & { children: T[] } {
    const from = at++
    const children: T[] = []
    for (blank(); bare[at] !== end; blank()) {
      children.push(one())
      blank()
      if (bare[at] === ',') at++
      else if (bare[at] !== end) throw expected(`"," or "${end}"`)
    }
    at++
    return { from, to: at, children }
  }

  function member(depth: number): Member {
    const from = at
    if (bare[at] !== '"') throw expected('a key in double quotes')
    const key = String(value().value)
    blank()
    if (bare[at] !== ':') throw expected('":"')
    at++
    blank()
    const inner = node(depth + 1)
    return { key, node: inner, from, to: inner.to }
  }

  function element(depth: number): Element {
    const inner = node(depth + 1)
    return { node: inner, from: inner.from, to: inner.to }
  }

  function value(): ValueNode {
    const from = at
    const token = TOKEN.exec(bare.slice(at, at + (bare[at] === '"' ? bare.length : 400)))?.[0]
    if (token === undefined) throw expected('a value')
    try {
      const read = JSON.parse(text.slice(from, from + token.length)) as ValueNode['value']
      at += token.length
      return { kind: 'value', value: read, from, to: at }
    } catch {
      throw broken(`${token.slice(0, 40)} is no JSON value`)
    }
  }

  blank()
  const root = node(0)
  blank()
  if (at < bare.length) throw expected('nothing more')
  return root
}

/** What it says, whatever it looks like. */
export function valueOf(node: Node): unknown {
  if (node.kind === 'value') return node.value
  if (node.kind === 'array') return node.children.map(child => valueOf(child.node))
  return Object.fromEntries(node.children.map(child => [child.key, valueOf(child.node)]))
}

/** The same text with blanks instead of comments: every place in it is the same place in the other. */
export function uncommented(text: string): string {
  return text.replace(COMMENT_OR_STRING, found => (found.startsWith('"') ? found : found.replace(/[^\n\r]/g, ' ')))
}

const TOKEN = /^(?:"(?:[^"\\\n\r]|\\.)*"|[-+.\w]+)/
const COMMENT_OR_STRING = /"(?:[^"\\\n\r]|\\.)*"?|\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g

function shown(text: string, at: number): string {
  return JSON.stringify(text.slice(at, at + 20).split(/[\r\n]/)[0])
}
