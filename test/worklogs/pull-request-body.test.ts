import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { merged, pullRequestSection } from '../../src/worklogs/pull-request.ts'
import { attempt, session, worked } from './accounts.ts'
import { blocks } from './gfm.ts'

const OLD = pullRequestSection(session(worked('alice', [attempt(1, { decisions: ['older'] })])))
const NEW = pullRequestSection(session(worked('bob', [attempt(2, { decisions: ['newer'] })])))
const BEGIN = '<!-- punchlist:work-session -->'
const END = '<!-- /punchlist:work-session -->'
const [old, now] = [OLD.trim(), NEW.trim()]

/** As another program writes it, without marks. */
const FOREIGN = `## Work Session

<details>
<summary>3 workers completed 5/6 tasks (7/8 subtasks)</summary>

| Worker | Role |
|--------|------|
| x | y |

</details>

### Key Decisions
- one

### Known Issues
- two`

describe('a body gets the section', () => {
  test.each([
    ['of its own, where it is empty', '', NEW],
    ['after a blank line', 'What it does.', `What it does.\n\n${NEW}`],
    ['after the blank line that is there', 'What it does.\n\n', `What it does.\n\n${NEW}`],
    ['after its last line', 'What it does.\n', `What it does.\n\n${NEW}`],
    ['with its own line breaks', 'One.\r\n\r\nTwo.', `One.\r\n\r\nTwo.\r\n\r\n${NEW.replaceAll('\n', '\r\n')}`],
    [
      'after a list with code in it',
      '1. ```sh\n   npm test\n   ```\n2. x\n',
      `1. \`\`\`sh\n   npm test\n   \`\`\`\n2. x\n\n${NEW}`,
    ],
    ['after HTML', '<div>\nx\n</div>', `<div>\nx\n</div>\n\n${NEW}`],
  ])('%s', (_, body, wanted) => {
    expect(merged(body, NEW)).toBe(wanted)
  })

  test.each([
    ['ours', `Before.\n\n${old}\n\nAfter.\n`, `Before.\n\n${now}\n\nAfter.\n`],
    ['ours, without a line break at the end', `Before.\n\n${old}`, `Before.\n\n${now}`],
    ['ours, in a body from a browser', OLD.replaceAll('\n', '\r\n'), NEW.replaceAll('\n', '\r\n')],
    ['ours, with text right before and after it', `Before.\n${old}\nAfter.`, `Before.\n\n${now}\nAfter.`],
    ['ours, with something in it that is not', `${BEGIN}\n## Work Session\n\nmine\n\n### Mine\n${END}\n`, NEW],
    ['marks with nothing in them', `A\n\n${BEGIN}\n\n${END}\n`, `A\n\n${NEW}`],
    ['the first of several, and the others go', `A\n\n${old}\n\nB\n\n${old}\n\nC\n`, `A\n\n${now}\n\nB\n\nC\n`],
    [
      'one that lost its end, up to the next heading',
      `A\n\n${old.replace(END, '')}\n## B\nx\n`,
      `A\n\n${now}\n\n\n## B\nx\n`,
    ],
    [
      'one that lost its end, and keeps the text below it',
      `A\n\n${old.replace(END, '').trim()}\n\nCloses nothing.\n\n- a list\n`,
      `A\n\n${now}\n\nCloses nothing.\n\n- a list\n`,
    ],
    ['one that lost its end, and keeps text right below it', `${old.replace(END, 'B')}\nC`, `${now}\n\nB\nC`],
    [
      'one that lost its end, and keeps what was written instead of it',
      `A\n\n${BEGIN}\n## Work Session\n\nx\n`,
      `A\n\n${now}\n\nx\n`,
    ],
    ['one that lost all but its mark', `${BEGIN}\nx\n\nTitle\n---\n`, `${now}\nx\n\nTitle\n---\n`],
    [
      'one that lost its end, and keeps what comes before a whole one',
      `${BEGIN}\nx\n\n## Mine\n\n${old}\n`,
      `${now}\nx\n\n## Mine\n\n`,
    ],
    [
      'one that lost its end, and the next its beginning',
      `${old.replace(END, '')}\nA\n\n${old.replace(BEGIN, '').trim()}\n\nB\n`,
      `${now}\n\n\nA\n\nB\n`,
    ],
    ['one whose beginning stands twice', `A\n\n${BEGIN}\n${old}\n\nB\n`, `A\n\n${now}\nB\n`],
    ['one whose end stands twice', `${old}\n${END}\n\nB\n`, `${now}\n${END}\n\nB\n`],
    [
      'one that lost its end, with marks in fenced code below it',
      `${old.replace(END, '').trim()}\n\nA\n\n\`\`\`\n${BEGIN}\n${END}\n\`\`\`\n`,
      `${now}\n\nA\n\n\`\`\`\n${BEGIN}\n${END}\n\`\`\`\n`,
    ],
    [
      'one that lost its end, in a body from a browser',
      `A\n\n${old.replace(END, '').trim()}\n\nB\n`.replaceAll('\n', '\r\n'),
      `A\n\n${now}\n\nB\n`.replaceAll('\n', '\r\n'),
    ],
    ['one in the midst of a comment', `A\n\n<!-- b\n${old}\nc -->\n`, `A\n\n${now}\n\n<!-- b\n\nc -->\n`],
    ['one of another program', `A\n\n${FOREIGN}\n\n## B\n`, `A\n\n${now}\n\n## B\n`],
    ['one of another program, at the end', `A\n\n${FOREIGN}\n`, `A\n\n${now}\n`],
    ['one of another program, with text below it', `A\n\n${FOREIGN}\n\nB\n`, `A\n\n${now}\n\nB\n`],
    ['one of another program, up to a line across', `${FOREIGN}\n\n---\nGenerated.\n`, `${now}\n\n---\nGenerated.\n`],
    ['one of another program and ours', `${FOREIGN}\n\n${old}\n`, `${now}\n\n`],
  ])('in place of %s', (_, body, wanted) => {
    expect(merged(body, NEW)).toBe(wanted)
  })

  test.each([
    ['marks in fenced code', `\`\`\`\n${BEGIN}\nx\n${END}\n\`\`\`\n`],
    ['marks within a line', `See ${BEGIN} and ${END}.\n`],
    ['marks that are indented', `    ${BEGIN}\n    ${END}\n`],
    ['an end without a beginning', `A\n${END}\n`],
    ['a heading of that name without the fold', '## Work Session\n\nWas long.\n'],
    ['the same in fenced code', `~~~\n${FOREIGN}\n~~~\n`],
    ['a heading of that name at another level', FOREIGN.replace('##', '#').concat('\n')],
  ])('and keeps %s', (_, body) => {
    expect(merged(body, NEW)).toBe(`${body}\n${NEW}`)
  })

  test.each([
    ['fenced code', '```js\nconst a = 1\n'],
    ['a longer fence', '````\n```\n'],
    ['a comment', '<!-- remember\n'],
    ['a fold', '<details>\n<summary>Log</summary>\n\nlong\n'],
    ['a fold whose end is in fenced code that is not closed', '<details>\n\n```\n</details>\n'],
    ['<pre>', '<pre>\nx\n'],
    ['something in PHP', '<?php\necho 1\n'],
  ])('before %s that nothing closes, which would take it in', (_, open) => {
    expect(merged(`Text.\n${open}`, NEW)).toBe(`Text.\n\n${NEW}\n${open}`)
    expect(merged(`Text.\n\n${open}\n${OLD}`, NEW)).toBe(`Text.\n\n${NEW}\n${open}\n\n`)
  })

  test.each([
    ['a fence in a list, which ends with it', '- x\n  ```\n  y\n'],
    ['a fold that is mentioned', 'It uses `<details>`.\n'],
    ['comments and folds that are closed', '<!--\n```\n<details>\n-->\n<details>\n\n```\n<details>\n```\n</details>\n'],
  ])('after %s', (_, body) => {
    expect(merged(body, NEW)).toBe(`${body}\n${NEW}`)
  })
})

describe('whatever stands in a body', () => {
  const PIECES = [
    'text',
    '',
    '# h',
    '## h',
    '### h',
    '## Work Session',
    '<details>',
    '</details>',
    '<details><summary>s</summary>',
    '```',
    '````',

    '~~~',
    '```js',
    '  ```',
    '`<details>`',
    '<!--',
    '-->',
    '<!-- c -->',
    BEGIN,
    END,
    `${BEGIN}  `,
    ` ${BEGIN}`,
    '<div>',
    '</div>',
    '<pre>',

    '</pre>',
    '<?php',
    '?>',
    '- item',
    '- ```',
    '1. x',
    '   y',
    '> quote',
    '---',
    '===',
    '***',
    '    code',
    '| a | b |',
    '<b>',
    old,
    now,
    FOREIGN,
  ]
  const body = fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom('\n', '\n\n', '\r\n', '\r\n\r\n', '\r')), {
        maxLength: 12,
      }),
      fc.boolean(),
    )
    .map(([pieces, ended]) => {
      const whole = pieces.flat().join('')
      return ended ? whole : whole.replace(/[\r\n]+$/, '')
    })

  test('to merge again changes nothing, and what is merged last is all that is there', () => {
    fc.assert(
      fc.property(body, given => {
        const once = merged(given, OLD)
        expect(merged(once, OLD)).toBe(once)
        expect(merged(once, NEW)).toBe(merged(given, NEW))
      }),
      { numRuns: 3000 },
    )
  })

  test('and whichever of its lines a section lost, what others wrote around it survives, once', () => {
    const theirs = fc.array(
      fc.constantFrom('text', '', '## h', 'Title\n---', '```\ncode\n```', '> q', '1. x', '***', '<b>x</b>', '`a`'),
      { maxLength: 5 },
    )
    const lines = old.split('\n')
    fc.assert(
      fc.property(theirs, theirs, fc.nat(lines.length - 1), fc.boolean(), (before, after, gone, crlf) => {
        const eol = crlf ? '\r\n' : '\n'
        const words = (part: readonly string[], side: string) => part.map(each => (each === 'text' ? `${side}!` : each))
        const [above, below] = [words(before, 'above'), words(after, 'below')]
        const rest = lines.filter((_, n) => n !== gone)
        const given = [...above, '', ...rest, '', ...below, ''].join('\n').replaceAll('\n', eol)
        const whole = merged(given, NEW)
        const left = (text: string) => text.split(/\r?\n/).filter(each => each.trim() !== '')
        const kept = left(whole.replace(now.replaceAll('\n', eol), ''))
        // Where its beginning is gone with the mark, nothing says whose the rest is: that may stay, theirs must.
        for (const [part, side] of [
          [above, 'above!'],
          [below, 'below!'],
        ] as const)
          expect(kept.filter(each => each === side)).toEqual(part.filter(each => each === side))
        for (const line of left([...above, ...below].join('\n'))) expect(kept).toContain(line)
      }),
      { numRuns: 2000 },
    )
  })

  test('a body without a section is kept to the last byte', () => {
    fc.assert(
      fc.property(
        body.filter(given => !/work[- ]session/i.test(given)),
        given => {
          const whole = merged(given, NEW)
          const place = whole.search(/^<!-- punchlist/m)
          const section = now.replaceAll('\n', whole.startsWith(`${BEGIN}\r`, place) ? '\r\n' : '\n')
          expect(whole.startsWith(section, place)).toBe(true)
          const [before, after] = [whole.slice(0, place), whole.slice(place + section.length)]
          expect(given.startsWith(before.replace(/[\r\n]+$/, ''))).toBe(true)
          expect(given.endsWith(after.replace(/^[\r\n]+/, ''))).toBe(true)
          expect((before + after).replace(/[\r\n]/g, '')).toBe(given.replace(/[\r\n]/g, ''))
        },
      ),
    )
  })

  test('the section is a heading of its own, not part of something else', () => {
    const plain = body.filter(given => !/work[- ]session|<|\r(?!\n)/i.test(given))
    fc.assert(
      fc.property(plain, given => {
        const tokens = blocks(merged(given, NEW).replaceAll('\r\n', '\n'))
        expect(
          tokens.filter(({ type, depth, text }) => type === 'heading' && depth === 2 && text === 'Work Session').length,
        ).toBe(1)
      }),
      { numRuns: 1000 },
    )
  })
})
