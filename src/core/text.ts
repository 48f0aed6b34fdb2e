/**
 * Stored text on its way to a terminal: control characters, C1 included, and
 * the marks that reorder text are shown as an escape instead of taking effect.
 */
export function harmless(text: string): string {
  // Most text is plain ASCII, and a start is too short for a large pattern to be compiled well.
  if (!/[^\n -~]/.test(text)) return text
  return text.replace(SHOWN_ESCAPED, character => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** As `harmless`, and on one line. */
export function harmlessLine(text: string): string {
  return harmless(/[\r\n\t]/.test(text) ? text.replace(/[\r\n\t]+/g, ' ') : text)
}

/** Takes out what looks like a credential: output of commands is kept, and read by others. */
export function redacted(text: string): string {
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

// oxlint-disable-next-line no-control-regex -- finding them is the point
const SHOWN_ESCAPED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g
