import { keyLine } from '../core/yaml/writing.ts'

/** Text from outside as one word of a command line, for any POSIX shell. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** As a JSON string, in quotes only where something in it could be taken for something else. */
export function quotedName(text: string): string {
  return PLAIN.test(text) ? text : jsonText(text)
}

/** JSON that is also YAML, which takes more characters for line breaks. */
export function jsonText(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A line of frontmatter in a text that somebody reads: words are in quotes, which YAML would not ask for. */
export function yamlLine(key: string, text: string): string {
  return PLAIN.test(text) ? keyLine(key, text) : `${key}: ${jsonText(text)}`
}

const PLAIN = /^[\w./@%+=:,-]+$/
