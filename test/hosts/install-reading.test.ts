import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson, Unreadable, valueOf } from '../../src/hosts/install/json.ts'
import { readToml } from '../../src/hosts/install/toml.ts'

function lineOf(read: () => unknown): number | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return error.line
  }
}

describe('JSON', () => {
  test('is read as everyone else reads it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(valueOf(readJson(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  test('that others refuse is refused, unless it is a remark or a comma too many', () => {
    const damage = fc.tuple(fc.jsonValue(), fc.nat(), fc.constantFrom('', '"', '{', ']', ':', 'x', '\\', '1', '\n'))
    fc.assert(
      fc.property(damage, ([value, place, sign]) => {
        const whole = JSON.stringify(value)
        const at = place % whole.length
        const text = whole.slice(0, at) + sign + whole.slice(at + 1)
        fc.pre(!/\/[/*]|,\s*[\]}]/.test(text))
        let expected: unknown
        let refused = false
        try {
          expected = JSON.parse(text)
        } catch {
          refused = true
        }
        if (refused) expect(lineOf(() => readJson(text))).toBeGreaterThan(0)
        else expect(valueOf(readJson(text))).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('is refused with the line where it is wrong', () => {
    const cases: [text: string, line: number][] = [
      ['', 1],
      ['{\n  "a": 1\n  "b": 2\n}', 3],
      ['{\n  a: 1\n}', 2],
      ['{"a": "x\ny"}', 1],
      ['{}\n{}', 2],
      ['/* open', 1],
      ['['.repeat(10_000), 1],
    ]
    for (const [text, line] of cases)
      expect(
        lineOf(() => readJson(text)),
        text.slice(0, 40),
      ).toBe(line)
  })

  test('a key that means something to JavaScript is only a key', () => {
    const value = valueOf(readJson('{"__proto__": {"a": 1}, "constructor": 2}')) as object
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(({} as { a?: number }).a).toBeUndefined()
  })
})

describe('TOML', () => {
  const FINE = [
    'a.b.c = "x"\n"quoted key" = 1\n\'lit\' = 2\n1234 = "x"',
    '[a."b.c".\'d\']\nx=1\n  [ e . f ]  # remark\n  y  =  1',
    '[[a.b]]\nx=1\n[[a.b]]\nx=2',
    'a = """\nx \\\n  y """\nb = """""x"""""\nc = """x\\"""y"""\nd = \'\'\'it\'s\'\'\'',
    'a = [ 1, 2, # remark ]\n 3,\n]\nb = [ [1,2], ["]"], { x = 1 } ]\nc = []',
    'a = { x = 1, y = { z = [1] } }\nb = {}',
    'a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5\nc = 1979-05-27\nd = 07:32:00',
    'a = +1.0\nb = 5e+22\nc = -nan\nd = 0xDEAD_BEEF\ne = 0o755\nf = 1_000\ng = true',
    '# remark\r\n\r\na = "x" # "\r\n',
    '\uFEFFa = 1',
  ]
  test.each(FINE)('%j is read', text => {
    expect(readToml(text).length).toBeGreaterThan(0)
  })

  const WRONG: [text: string, line: number][] = [
    ['a = \n', 1],
    ['x = 1\na\n', 2],
    ['a = 1 b = 2\n', 1],
    ['x = 1\n\n[a\n', 3],
    ['a = "x\n', 1],
    ['a = [1, 2\n', 2],
    ['= 1\n', 1],
    ['a = {x = 1\n', 2],
    ['[[a]\n', 1],
    ['[a] x = 1\n', 1],
    ['a = tru\n', 1],
    ['a = 1.\n', 1],
    ['a = """x\n', 1],
  ]
  test.each(WRONG)('%j is refused in line %i', (text, line) => {
    expect(lineOf(() => readToml(text))).toBe(line)
  })

  test('what stands in texts is no statement', () => {
    expect(readToml('a = """\n[mcp_servers.punchlist]\n"""\nb = \'[x]\' # [y]\n').map(({ path }) => path)).toEqual([
      ['a'],
      ['b'],
    ])
  })
})
