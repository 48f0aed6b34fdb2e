/**
 * Stored text on its way to a terminal: control characters, C1 included, marks
 * that reorder text, and characters that nobody sees are shown as an escape. Joiners
 * and variation selectors stay where a script or an emoji needs them.
 */
export function harmless(text: string): string {
  return mayHide(text) ? replaceHidden(text, shownEscaped) : text
}

/** Stored text on its way to a model, which reads what nobody sees: without it. Control characters stay. */
export function withoutInvisible(text: string): string {
  return mayHide(text) ? replaceHidden(text, found => (isControl(found) ? found : '')) : text
}

/** The same for everything in an answer; the answer itself where there is nothing to take out. */
export function allWithoutInvisible<T>(value: T): T {
  if (typeof value === 'string') return withoutInvisible(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return changed(value, value.map(allWithoutInvisible)) as T
  const entries = Object.entries(value)
  const own = entries.map(([, each]) => allWithoutInvisible(each))
  const same = own.every((each, n) => each === entries[n]![1])
  return same ? value : (Object.fromEntries(entries.map(([key], n) => [key, own[n]])) as T)
}

/** Stored text in a prompt: without what nobody sees, and with escapes for what takes effect. */
export function harmlessPrompt(text: string): string {
  return harmless(withoutInvisible(text))
}

/** As `harmlessPrompt`, and on one line. */
export function harmlessPromptLine(text: string): string {
  return harmlessLine(withoutInvisible(text))
}

/** Whether nothing of a text can be seen. */
export function isInvisible(text: string): boolean {
  if (/[!-~]/.test(text)) return false
  return /^[\s\u2800]*$/.test(withoutInvisible(text.replace(/\p{Cc}/gu, '')))
}

/** A value as JSON, and what a terminal would obey or reorder as escapes: who parses it gets the same value. */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value)
  if (!/[^\n -~]/.test(json)) return json
  return json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** As `harmless`, and on one line. */
export function harmlessLine(text: string): string {
  return harmless(/[\r\n\t]/.test(text) ? text.replace(/[\r\n\t]+/g, ' ') : text)
}

let conceal: ((text: string) => string) | undefined

/** What else `redacted` takes out in this process. */
export function redactAlso(further: (text: string) => string): void {
  conceal = further
}

/** Takes out what looks like a credential: output of commands is kept, and read by others. */
export function redacted(given: string): string {
  const text = conceal === undefined ? given : conceal(given)
  // Nearly every text has nothing of the sort: one look instead of six.
  if (!SUSPICIOUS.test(text)) return text
  return text
    .replace(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted]')
    .replace(/\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g, '[redacted]')
    .replace(/\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_)[A-Za-z0-9_-]{10,}/g, '[redacted]')
    .replace(/\bAKIA[A-Z0-9]{16}\b/g, '[redacted]')
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [redacted]')
    .replace(/\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,200}):[^\s@/]{1,200}@/gi, '$1:[redacted]@')
}

/** The same for text that comes line by line: a key may go on for many lines. */
export function redactingLines(): (line: string) => string {
  let hidden = 0
  return line => {
    if (hidden > 0) {
      hidden = /-----END [A-Z ]*PRIVATE KEY-----/.test(line) ? 0 : hidden - 1
      return '[redacted]'
    }
    const begun = /-----BEGIN [A-Z ]*PRIVATE KEY-----(?![\s\S]*-----END )/.test(line)
    if (begun) hidden = LONGEST_KEY
    return redacted(line)
  }
}

/** In lines: a heading without an end does not hide everything that follows. */
const LONGEST_KEY = 300

const SUSPICIOUS = /-----BEGIN|\b[spr]k-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_|AKIA|bearer\s|basic\s|:\/\//i

function changed(before: readonly unknown[], after: unknown[]): readonly unknown[] {
  return after.every((each, n) => each === before[n]) ? before : after
}

function shownEscaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}

function isControl(character: string): boolean {
  return /^[\p{Cc}\u2028\u2029]$/u.test(character)
}

/**
 * Whether there may be something to replace. Most text is plain ASCII, and a start
 * is too short for a large pattern to be compiled well. The second one goes by
 * code units: of what lies beyond U+FFFF, it knows the first halves.
 */
function mayHide(text: string): boolean {
  return (
    /[^\n -~]/.test(text) &&
    // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- finding them is the point
    /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud82f\ud834\udb40-\udb43]/.test(
      text,
    )
  )
}

let hidden: RegExp | undefined

function replaceHidden(text: string, replace: (character: string) => string): string {
  hidden ??= hiddenPattern()
  return text.replace(hidden, (found: string, needed?: string) => (needed === undefined ? replace(found) : found))
}

/** Made when it is first needed, which most starts do not. What is needed is in a group of its own. */
function hiddenPattern(): RegExp {
  const ignored = '\\p{Default_Ignorable_Code_Point}'
  const controls = '\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufff9-\\ufffb'
  return new RegExp(`(?!${ignored})(${neededPatterns().join('|')})|[${controls}${ignored}]`, 'gu')
}

/** Where characters that are not seen themselves change what is seen, each with what it belongs to. */
function neededPatterns(): string[] {
  const picture = '\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|[\\ufe0e\\ufe0f])?'
  const letter = JOINED.split(' ')
    .map(script => `\\p{scx=${script}}`)
    .join('')
  return [
    // Several emoji that are one.
    `${picture}(?:\\u200d${picture})+`,
    '\\p{Emoji}[\\ufe0e\\ufe0f]',
    // The flags of regions: a black flag, up to six letters and digits as tags, and their end.
    '\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}',
    `[${letter}][\\u180b-\\u180d]?[\\u200c\\u200d]`,
    '\\p{Ideographic}[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
    '[0\\p{Sm}\\p{sc=Mymr}\\p{sc=Phag}]\\ufe00',
    '[\\u3001\\u3002\\uff01\\uff0c\\uff0e\\uff1a\\uff1b\\uff1f][\\ufe00\\ufe01]',
    '\\p{sc=Mong}[\\u180b-\\u180f]',
  ]
}

/** Scripts in which a joiner after a letter says how it is written. */
const JOINED =
  'Arab Syrc Mand Nkoo Adlm Rohg Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Tibt Newa Cakm Limb'
