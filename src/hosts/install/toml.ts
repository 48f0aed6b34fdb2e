import { Unreadable } from './json.ts'

/** One statement of a TOML text: a header, or a key with its value. */
export interface Statement {
  readonly kind: 'table' | 'list' | 'key'
  /** Of a key: its table's names included. */
  readonly path: readonly string[]
  readonly from: number
  readonly to: number
  /** Strings, truths and lists of them; undefined for everything else. */
  readonly value?: string | boolean | readonly unknown[] | undefined
}

const SPACE = /[ \t]*/y
const BETWEEN = /(?:[ \t\r\n\uFEFF]|#[^\n]*)*/y
const LINE_END = /[ \t]*(?:#[^\n\r]*)?(?:\r?\n|$)/y
const BARE_KEY = /[A-Za-z0-9_-]+/y
const STRINGS = [
  /"""(?:[^\\]|\\[\s\S])*?"{3,5}/y,
  /'''[\s\S]*?'{3,5}/y,
  /"(?:[^"\\\n\r]|\\.)*"/y,
  /'[^'\n\r]*'/y,
] as const
const DATE =
  /\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[-+]\d\d:\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?/y
const PLAIN =
  /true|false|[-+]?(?:inf|nan|0x[\da-fA-F_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d[\d_]*)?)/y

/** Reads as much of TOML as is needed to add to a file safely: what is there, and whether it is TOML at all. */
export function readToml(text: string): Statement[] {
  let at = 0
  let table: readonly string[] = []
  const found: Statement[] = []

  const broken = (message: string) => new Unreadable(text, at, message)
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const match = pattern.exec(text)?.[0]
    if (match !== undefined) at += match.length
    return match
  }
  const need = (sign: string) => {
    if (!text.startsWith(sign, at)) throw broken(`"${sign}" should be here`)
    at += sign.length
  }
  const string = (): string | undefined => {
    for (const pattern of STRINGS) {
      const match = take(pattern)
      if (match !== undefined) return unquoted(match)
    }
    return undefined
  }

  function keys(): string[] {
    const path: string[] = []
    for (;;) {
      take(SPACE)
      const key = take(BARE_KEY) ?? string()
      if (key === undefined) throw broken('a key should be here')
      path.push(key)
      take(SPACE)
      if (text[at] !== '.') return path
      at++
    }
  }

  function value(): Statement['value'] {
    if (text[at] === '[') return list()
    if (text[at] === '{') return inline()
    const words = string()
    if (words !== undefined || take(DATE) !== undefined) return words
    const plain = take(PLAIN)
    if (plain === undefined) throw broken('a value should be here')
    return plain === 'true' || plain === 'false' ? plain === 'true' : undefined
  }

  function list(): unknown[] {
    const values: unknown[] = []
    at++
    for (take(BETWEEN); text[at] !== ']'; take(BETWEEN)) {
      values.push(value())
      take(BETWEEN)
      if (text[at] === ',') at++
      else if (text[at] !== ']') throw broken('"," or "]" should be here')
    }
    at++
    return values
  }

  function inline(): undefined {
    at++
    for (take(BETWEEN); text[at] !== '}'; take(BETWEEN)) {
      keys()
      need('=')
      take(SPACE)
      value()
      take(BETWEEN)
      if (text[at] === ',') at++
      else if (text[at] !== '}') throw broken('"," or "}" should be here')
    }
    at++
  }

  for (take(BETWEEN); at < text.length; take(BETWEEN)) {
    const from = at
    if (text[at] === '[') {
      const [open, close] = text.startsWith('[[', at) ? ['[[', ']]'] : ['[', ']']
      need(open)
      table = keys()
      need(close)
      found.push({ kind: open === '[[' ? 'list' : 'table', path: table, from, to: at })
    } else {
      const path = [...table, ...keys()]
      need('=')
      take(SPACE)
      const given = value()
      found.push({ kind: 'key', path, from, to: at, value: given })
    }
    if (take(LINE_END) === undefined) throw broken('the line should end here')
  }
  return found
}

/** As a TOML string. JSON's escapes are TOML's too. */
export function quoted(text: string): string {
  return /^[^'\p{Cc}]*$/u.test(text) && /["\\]/.test(text) ? `'${text}'` : JSON.stringify(text)
}

function unquoted(match: string): string {
  const mark = /^("""|'''|"|')/.exec(match)![0]
  const inner = match.slice(mark.length, -mark.length)
  if (mark !== '"') return inner
  try {
    return String(JSON.parse(match))
  } catch {
    return inner
  }
}
