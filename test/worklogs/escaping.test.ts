import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { harmless, redacted } from '../../src/core/text.ts'
import { cell, forPullRequest } from '../../src/worklogs/escaping.ts'
import { blocks, lively, rows, seen } from './gfm.ts'
import { hostile } from './hostile.ts'

const HEAD = '| a | b | c |\n|---|---|---|\n'

describe('what a worker wrote, in a table or a list', () => {
  test.each([
    ['a|b', 'a\\|b'],
    ['\\|', '\\\\\\|'],
    ['</details><!-- -->', '&lt;/details&gt;&lt;!-- --&gt;'],
    ['![](x) [y](javascript:1)', '!\\[\\](x) \\[y\\](javascript:1)'],
    ['`rm` *a* ~b~ _c_', '\\`rm\\` \\*a\\* \\~b\\~ \\_c\\_'],
    ['snake_case in src/a_b.ts', 'snake_case in src/a_b.ts'],
    ['one\r\n  two\u2028three', 'one two three'],
    ['\u001b]0;title\u0007\u202e', '\\\\u{1b}\\]0;title\\\\u{7}\\\\u{202e}'],
    ['R&D &amp; x', 'R&D &amp;amp; x'],
    ['# x', '\\# x'],
    ['- x', '\\- x'],
    ['10) x', '10\\) x'],
    ['see https://x.y/a_b* or www.x.y', 'see https\\://x.y/a_b\\* or www\\.x.y'],
    ['valibot@1.5.0, for @team', 'valibot\\@1.5.0, for @team'],
    ['half \ud800 a pair', 'half \ufffd a pair'],
  ])('%j becomes %j', (text, wanted) => {
    expect(cell(text)).toBe(wanted)
  })

  test('stays in its cell, is nothing but text, and is seen as it was written', () => {
    fc.assert(
      fc.property(hostile, text => {
        const shown = cell(text, 1000)
        expect(shown).not.toMatch(/[\r\n<>]|(?<!\\)(?:\\\\)*\|/)
        const row = rows(`${HEAD}| x | ${shown} | y |\n| 1 | 2 | 3 |\n`)
        expect(row.length).toBe(2)
        expect(row[0]!.length).toBe(3)
        expect(lively(row[0]![1]!)).toEqual([])
        expect(seen(`${HEAD}| x | ${shown} | y |\n`)).toBe(`abcx${written(text)}y`)
      }),
      { numRuns: 2000 },
    )
  })

  test('stays in its item of a list, whatever comes before and after', () => {
    fc.assert(
      fc.property(hostile, text => {
        const [list, ...others] = blocks(`- **x**: ${cell(text, 1000)}\n- ${cell(text, 1000)}z\n- y\n`)
        expect(others).toEqual([])
        expect(list!.items?.length).toBe(3)
        expect(lively([list!])).toEqual(['list', 'list_item', 'strong', 'list_item', 'list_item'])
      }),
      { numRuns: 2000 },
    )
  })

  test('is cut between characters, and the mark of the cut counts', () => {
    expect(cell('😀'.repeat(100))).toBe('😀'.repeat(100))
    expect(cell('😀'.repeat(101))).toBe(`${'😀'.repeat(99)}…`)
    expect(cell('abcdef', 4)).toBe('abc…')
    expect(cell('abc def', 5)).toBe('abc…')
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '😀', '|', ' ') }),
        fc.integer({ min: 1, max: 20 }),
        (text, max) => {
          expect(Array.from(cell(text, max).replaceAll('\\|', '|')).length).toBeLessThanOrEqual(max)
        },
      ),
    )
  })

  test('holds no credentials, also where the cut would have left half of one', () => {
    const text = `${'x'.repeat(90)} ghp_abcdefghijklmnopqrstuvwxyz0123456789`
    expect(cell(text)).not.toContain('ghp_')
    expect(forPullRequest(text)).not.toContain('ghp_')
  })
})

describe('what a worker wrote, in a pull request', () => {
  test.each([
    '@team',
    'cc @org/team, please',
    'Fixes #1',
    'closes: org/repo#2',
    'resolves GH-3',
    'gh-4',
    'https://github.com/o/r/issues/5',
    'HTTP://x.y/pull/6',
    'www.example.org',
    'WWW.x.y',
    'a@b.co',
    'mailto:a@b.co',
    'xmpp:a@b.co/c',
    '![pixel](https://x.y/z.png)',
    '[click](https://x.y)',
    '<https://x.y>',
    '<img src=x>',
    '[ref]: https://x.y',
    '&#64;team',
    '&commat;team',
    '\\@team',
  ])('%j calls nobody, closes nothing and links nowhere', text => {
    const shown = forPullRequest(text)
    expect(lively(blocks(`x ${shown} y`))).toEqual(['paragraph'])
    expect(seen(`x ${shown} y`).replaceAll('\u200b', '')).toBe(`x ${text} y`)
    expectIdle(seen(shown))
    expectIdle(shown)
  })

  test('is idle whatever it holds, both as it is rendered and as it is written', () => {
    fc.assert(
      fc.property(hostile, text => {
        const shown = forPullRequest(text, 1000)
        const [cells] = rows(`${HEAD}| x | ${shown} | y |\n`)
        expect(cells!.length).toBe(3)
        expect(lively(cells![1]!)).toEqual([])
        expect(seen(`${HEAD}| x | ${shown} | y |\n`).replaceAll('\u200b', '')).toBe(
          `abcx${written(text).replaceAll('\u200b', '')}y`,
        )
        expectIdle(seen(shown))
        expectIdle(shown)
      }),
      { numRuns: 2000 },
    )
  })
})

/** By what GitHub says it looks for: names after an at sign, numbers after # and GH-, addresses. */
function expectIdle(text: string): void {
  expect(text).not.toMatch(/@[a-z\d]/i)
  expect(text).not.toMatch(/#\d/)
  expect(text).not.toMatch(/\bgh-\d/i)
  expect(text).not.toMatch(/:\/\/|www\./i)
}

/** As it is to be seen: on one line, and with an escape for each character that would not be seen (test/core/invisible.test.ts has which). */
function written(text: string): string {
  return harmless(redacted(text).replace(/\s+/g, ' ').trim().toWellFormed())
}
