import { harmless, redacted } from '../core/text.ts'

/**
 * What a worker wrote, for a table cell or an item of a list: one line of at
 * most `max` characters, which markdown shows as it was written.
 */
export function cell(text: string, max = 100): string {
  // Most of what workers write is words, and there may be ten thousand of them.
  if (text.length <= max && WORDS.test(text) && !text.includes('  ') && redacted(text) === text) return text
  return inert(oneLineOf(redacted(text), max))
}

/**
 * The same for a pull request, where text does more than it says: it calls
 * people, closes issues and loads what it links to. GitHub looks for all of that
 * in the rendered text, where an entity or a backslash is gone, and again in the
 * message of a squashed commit, where neither means anything: what keeps it from
 * being found in both is a character of no width in its middle.
 */
export function forPullRequest(text: string, max = 100): string {
  return inert(oneLineOf(redacted(text), max).replace(CALLS, `$&${APART}`)).replaceAll('$', '\\$')
}

/** In which nothing is that means something in markdown, at the beginning or elsewhere. */
const WORDS = /^[a-z][a-z\d ,;()'"!?/%=+-]*[a-z\d]\.?$/i

/** Zero width space: the joiners of no width count as letters in some patterns. */
const APART = '\u200b'

/** Mentions and addresses of mail; `#1`, `owner/repo#1` and `GH-1`, whatever word stands before; links without brackets. */
const CALLS = /@|#(?=\d)|\bgh-(?=\d)|:(?=\/\/)|www(?=\.)/gi

function oneLineOf(text: string, max: number): string {
  const line = (/\s{2}|[^\S ]/.test(text) ? text.replace(/\s+/g, ' ') : text).trim().toWellFormed()
  return harmless(line.length > max ? cut(line, max) : line)
}

function cut(line: string, max: number): string {
  // Twice as many units hold more than `max` characters, however wide they are.
  const characters = Array.from(line.slice(0, 2 * max + 1))
  return characters.length > max
    ? `${characters
        .slice(0, max - 1)
        .join('')
        .trimEnd()}…`
    : line
}

function inert(line: string): string {
  if (!LIVE.test(line)) return line
  const escaped = line.replace(SIGNS, '\\$&')
  const safe = /[&<>]/.test(escaped) ? withoutHtml(escaped) : escaped
  return safe.replace(/^(?:(?=[#+-])|\d{1,9}(?=[.)]))/, '$&\\')
}

function withoutHtml(line: string): string {
  return line
    .replace(/&(?=#?[\da-z]+;)/gi, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

/** Where none of these is, nothing is to be done. */
const LIVE = /[\\`*_~[\]|&<>]|^[#+-]|^\d+[.)]|:\/\/|www\.|\w@/i

/** Not an underscore within a word, which begins no emphasis: names of files are full of them. What is taken for an address is made a link. */
const SIGNS = /[\\`*~[\]|]|_(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])_|:(?=\/\/)|(?<=www)\.|(?<=[\w.+-])@(?=[\w-]+\.)/giu
