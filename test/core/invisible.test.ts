import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  allWithoutInvisible,
  harmless,
  harmlessLine,
  harmlessPrompt,
  isInvisible,
  jsonText,
  withoutInvisible,
} from '../../src/core/text.ts'

/** What Unicode says nobody sees, and what a terminal obeys, asked of the engine's own tables. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/u
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\ufff9-\ufffb]/u
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** As people write it: nothing in it may be touched. */
const WRITTEN = [
  'می‌خواهم',
  'نامه‌ای از ه‍',
  'क्‍ष र्‍क',
  'ක්‍ෂ ශ්‍රී',
  'র‍্য',
  'ന്‍',
  'ਨ੍ਹਾਂ',
  '葛\u{E0100}城 辻\u{E0101} 﨑\ufe00',
  '∩\ufe00 0\ufe00',
  '、\ufe00',
  'ᠨᠠ\u180eᠮᠠ ᠠ\u180b',
  '👩‍👩‍👧‍👦 👁️‍🗨️ 🧑🏽‍🤝‍🧑🏿 🏳️‍🌈 🏴‍☠️ 👩🏾‍⚕️ ❤️‍🔥 🐦‍⬛ 🙂‍↔️',
  '1️⃣ #️⃣ ❤️ ☎︎ ©️ 🇩🇪',
  '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  'plain, ünïcode ✓ 日本\nand\tlines é e\u0301',
]

/** As attackers send it, with what is left. */
const HIDING: readonly (readonly [text: string, shown: string, left: string])[] = [
  ['a\u200bb', 'a\\u{200b}b', 'ab'],
  ['a\u200db\u200cc', 'a\\u{200d}b\\u{200c}c', 'abc'],
  ['x\u2060y\ufeffz', 'x\\u{2060}y\\u{feff}z', 'xyz'],
  ['soft\u00adly', 'soft\\u{ad}ly', 'softly'],
  ['\u{e0049}\u{e0067}nore', '\\u{e0049}\\u{e0067}nore', 'nore'],
  ['🏴\u{e0041}\u{e007f}', '🏴\\u{e0041}\\u{e007f}', '🏴'],
  ['a\ufe01b\ufe02', 'a\\u{fe01}b\\u{fe02}', 'ab'],
  ['葛\u{e0100}\u{e0101}', '葛\u{e0100}\\u{e0101}', '葛\u{e0100}'],
  ['می\u200c\u200c\u200dخ', 'می\u200c\\u{200c}\\u{200d}خ', 'می\u200cخ'],
  ['😀\u200da', '😀\\u{200d}a', '😀a'],
  ['😀\ufe0f\ufe0f', '😀\ufe0f\\u{fe0f}', '😀\ufe0f'],
  ['\u3164\u115f', '\\u{3164}\\u{115f}', ''],
  ['a\u202eb', 'a\\u{202e}b', 'ab'],
]

describe('what nobody sees', () => {
  test.each(WRITTEN)('stays where a script or an emoji needs it: %s', text => {
    expect(harmless(text)).toBe(text)
    expect(withoutInvisible(text)).toBe(text)
  })

  test.each(HIDING)('is shown to people and kept from models in %j', (text, shown, left) => {
    expect(harmless(text)).toBe(shown)
    expect(withoutInvisible(text)).toBe(left)
    expect(harmlessPrompt(`${text}\u001b[1m`)).toBe(`${left}\\u{1b}[1m`)
  })

  test('is every character that Unicode calls so, and no other', () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const sign = String.fromCodePoint(code)
      const hidden = IGNORED.test(sign)
      const escaped = hidden || (OBEYED.test(sign) && sign !== '\n' && sign !== '\t')
      const text = `x${sign}y`
      const wrong =
        (harmless(text) === text) === escaped ||
        withoutInvisible(text) !== (hidden || /[\ufff9-\ufffb]/.test(sign) ? 'xy' : text)
      if (wrong) expect.fail(`U+${code.toString(16)}`)
    }
  })

  const units = fc.oneof(
    fc.constantFrom('a', ' ', '1', '葛', '漢', 'ی', 'ف', 'क', '्', 'é', '✓', '∩', '\n', '、', 'ᠠ'),
    fc.constantFrom('👩', '👧', '❤', '🏽', '🏴', '🏳', '🌈', '☠', '⚕', '🇩', '🇪', '♂'),
    fc.constantFrom('\u200d', '\u200c', '\u200b', '\ufe0f', '\ufe0e', '\ufe00', '\u{e0100}', '\u{e0067}', '\u{e0062}'),
    fc.constantFrom('\u{e007f}', '\u2060', '\u180b', '\u00ad', '\u202e', '\u001b', '\u009b'),
  )
  const strange = fc.array(units, { maxLength: 12 }).map(parts => parts.join(''))

  test('whatever stays belongs to something that is seen, and emoji that Unicode recommends stay whole', () => {
    const emoji = /^\p{RGI_Emoji}$/v
    let recommended = 0
    fc.assert(
      fc.property(strange, text => {
        if (emoji.test(text)) recommended++
        for (const kept of [harmless(text), withoutInvisible(text)])
          for (const { segment } of graphemes.segment(kept)) {
            const signs = Array.from(segment)
            const unseen = signs.filter(sign => IGNORED.test(sign))
            if (unseen.length === 0) continue
            // One at most for each that is seen; a flag of a region has its tags.
            const seen = signs.length - unseen.length
            expect(seen, JSON.stringify(segment)).toBeGreaterThan(0)
            if (!segment.startsWith('🏴')) expect(unseen.length).toBeLessThanOrEqual(2 * seen)
          }
        for (const { segment } of graphemes.segment(text)) {
          if (!emoji.test(segment)) continue
          recommended++
          expect(harmless(segment)).toBe(segment)
          expect(withoutInvisible(segment)).toBe(segment)
        }
      }),
      { numRuns: 5000 },
    )
    expect(recommended).toBeGreaterThan(100)
  })

  test('is gone once it was taken out, and nothing that is seen is', () => {
    fc.assert(
      fc.property(fc.oneof(strange, fc.string({ unit: 'binary', maxLength: 60 })), text => {
        expect(harmless(harmless(text))).toBe(harmless(text))
        const seen = (given: string) =>
          Array.from(given).filter(sign => !IGNORED.test(sign) && !/[\ufff9-\ufffb]/.test(sign))
        expect(seen(withoutInvisible(text))).toEqual(seen(text))
        expect(harmlessLine(text)).not.toMatch(/[\n\r\t]/)
      }),
    )
  })

  test('is taken out of all of an answer, which is the same one where there is nothing', () => {
    const answer = { a: ['x\u200b', { b: 'y\u{e0041}', n: 1, none: null }], c: 'می‌خواهم' }
    expect(allWithoutInvisible(answer)).toEqual({ a: ['x', { b: 'y', n: 1, none: null }], c: 'می‌خواهم' })
    const plain = { a: ['x', { b: 'é' }] }
    expect(allWithoutInvisible(plain)).toBe(plain)
  })

  test('alone is no text', () => {
    for (const text of ['', ' ', '\u200b', ' \u200d\u{e0041} ', '\u3164', '\u2800', '\u00ad\ufeff']) {
      expect(isInvisible(text), JSON.stringify(text)).toBe(true)
    }
    for (const text of ['a', '\u200b.', 'é', '漢', '👩‍👧', '؀']) expect(isInvisible(text), text).toBe(false)
  })
})

test('JSON for a terminal has nothing in it that one obeys, and is the same value', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), text => {
      const value = { text: `${text}\u007f\u009b\u202e\u061c`, [`key\u0085${text}`]: [text] }
      const json = jsonText(value)
      expect(json).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})
