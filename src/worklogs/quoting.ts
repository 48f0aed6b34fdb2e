/** Text from outside as one word of a command line, for any POSIX shell. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** As a value in YAML that every reader takes for this text. */
export function yamlText(text: string): string {
  return PLAIN_TEXT.test(text) && !TAKEN.test(text) ? text : JSON.stringify(text).replace(UNPRINTED, escape)
}

/** As it is where nothing in it could be taken for something else, else as a JSON string. */
export function quotedName(text: string): string {
  return PLAIN_WORD.test(text) ? text : JSON.stringify(text).replace(UNPRINTED, escape)
}

const PLAIN_WORD = /^[\w./@%+=:,-]+$/
const PLAIN_TEXT = /^[A-Za-z_/][\w./@+-]*$/
/** Words that a reader of older YAML takes for something else than text. */
const TAKEN = /^(?:null|true|false|yes|no|on|off|y|n)$/i
/** What YAML takes for line breaks or does not print. */
const UNPRINTED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
