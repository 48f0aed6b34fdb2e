import { keyLine, quoted } from '../core/yaml/writing.ts'

/** Text from outside as one word of a command line, for any POSIX shell. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** As a JSON string, in quotes only where something in it could be taken for something else. */
export function quotedName(text: string): string {
  return PLAIN.test(text) ? text : quoted(text)
}

/** A line of frontmatter in a text that somebody reads: words are in quotes, which YAML would not ask for. */
export function yamlLine(key: string, text: string): string {
  return PLAIN.test(text) ? keyLine(key, text) : `${key}: ${quoted(text)}`
}

const PLAIN = /^[\w./@%+=:,-]+$/
