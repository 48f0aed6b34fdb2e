/** What a line of frontmatter can hold. */
export type Scalar = string | number | null

/** One line of frontmatter. */
export function keyLine(key: string, value: Scalar | readonly string[]): string {
  if (value === null || typeof value === 'number') return `${key}: ${value}`
  if (typeof value === 'string') return `${key}: ${scalar(value)}`
  return `${key}: [${value.map(text => (PLAIN_ITEM.test(text) && !taken(text) ? text : quoted(text))).join(', ')}]`
}

/** A text so that every reader of YAML takes it for this text, in quotes only where it has to be. */
function scalar(text: string): string {
  return PLAIN.test(text) && !taken(text) ? text : quoted(text)
}

/** Without what a file cannot hold: NUL, and half a character. */
export function whole(value: unknown): string {
  return String(value).replaceAll('\0', '\ufffd').toWellFormed()
}

// What begins with a digit, a sign or a dot could be a number or a date for another reader.
const PLAIN = /^[\p{L}_/](?:[\p{L}\p{M}\p{N}_./@+(),;'-]| (?! |$)|:(?! |$))*$/u
const PLAIN_ITEM = /^[\p{L}_/][\p{L}\p{M}\p{N}_./@+-]*$/u

/** Words that older YAML, or a reader of it, takes for something else than text. */
function taken(text: string): boolean {
  return text.length < 6 && /^(?:null|true|false|yes|no|on|off|y|n|e\d+)$/i.test(text)
}

/** As JSON, which YAML reads, but for the characters that YAML takes for line breaks or does not print. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
