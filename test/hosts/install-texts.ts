import fc from 'fast-check'

/** How somebody may have written a JSON file: indentation, line breaks, remarks, trailing commas. */
interface Hand {
  readonly eol: string
  readonly unit: string
  readonly remarks: boolean
  readonly trailing: boolean
  readonly lines: boolean
  readonly mark: string
  readonly end: string
}

const hand: fc.Arbitrary<Hand> = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  unit: fc.constantFrom('  ', '    ', '\t', ' '),
  remarks: fc.boolean(),
  trailing: fc.boolean(),
  lines: fc.boolean(),
  mark: fc.constantFrom('', '\uFEFF'),
  end: fc.constantFrom('', '\n', '\r\n', '\n\n', ' '),
})

const handler = fc.record({ type: fc.constant('command'), command: fc.string({ maxLength: 8 }) })
const group = fc.oneof(
  fc.record({ hooks: fc.array(handler, { maxLength: 2 }) }),
  fc.record({ matcher: fc.string({ maxLength: 4 }), hooks: fc.array(handler, { maxLength: 2 }) }),
)
const events = fc.constantFrom('Stop', 'SessionStart', 'PreToolUse', 'AfterAgent')
const groups = fc.dictionary(events, fc.array(group, { maxLength: 2 }), { maxKeys: 3 })
const servers = fc.dictionary(
  fc.constantFrom('github', 'a b', 'x'),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
  {
    maxKeys: 2,
  },
)
const anything = fc.jsonValue({ maxDepth: 2 })

const settings = fc
  .record(
    { hooks: groups, mcpServers: servers, mcp: servers, model: fc.string(), permissions: anything, 'a"b': anything },
    { requiredKeys: [] },
  )
  .chain(whole => fc.shuffledSubarray(Object.entries(whole), { minLength: Object.keys(whole).length }))
  .map(entries => Object.fromEntries(entries))

/** Settings of a host as people have them, in somebody's hand. */
export const jsonFile: fc.Arbitrary<string> = fc
  .tuple(settings, hand)
  .map(([document, how]) => how.mark + written(document, how, 0) + how.end)

function written(value: unknown, how: Hand, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  const parts = isList
    ? value.map(one => written(one, how, depth + 1))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${written(one, how, depth + 1)}`)
  const inner = how.lines ? how.eol + how.unit.repeat(depth + 1) : ' '
  if (parts.length === 0) {
    const empties = ['', ' ', how.eol + how.unit.repeat(depth), how.remarks ? `/* none */${how.eol}` : '']
    return open + empties[(depth + how.unit.length) % empties.length]! + close
  }
  const remark = how.remarks && how.lines ? ' // as it is' : how.remarks ? ' /* so */' : ''
  const outer = how.lines ? how.eol + how.unit.repeat(depth) : ''
  const body = parts.map((part, n) => {
    const comma = n < parts.length - 1 || how.trailing ? ',' : ''
    return inner + part + comma + remark
  })
  return open + body.join('') + (remark && !how.lines ? '' : '') + outer + close
}

const name = fc.constantFrom('model', 'a-b', '"c d"', 'x.y', 'n_1')
const value = fc.constantFrom(
  '"text"',
  "'raw \\ '",
  '1_000',
  '-2.5e3',
  'true',
  '1979-05-27 07:32:00',
  '[1, [2, "]"], # remark\n 3,\n]',
  '"""\nseveral\n[lines]\n"""',
  "'''x'''",
  '{ a = 1, b = "}" }',
  '[]',
)
const statement = fc.oneof(
  fc.tuple(name, value).map(([key, given]) => `${key} = ${given}`),
  fc.constantFrom('[table]', '[mcp_servers.other]', '[[hooks]]', '[[list.of]] # remark', '# a remark', '', '   '),
)

/** A TOML file as people have them. Names may stand twice in it, which is none of our business. */
export const tomlFile: fc.Arbitrary<string> = fc
  .tuple(fc.array(statement, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', '\n', '\n\n'))
  .map(([lines, eol, end]) => (lines.join('\n') + end).replaceAll('\n', eol))

export const markdownFile: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(fc.constantFrom('# Title', '', 'Text.', '```', '<!-- remark -->', '- point', '   '), { maxLength: 8 }),
    fc.constantFrom('\n', '\r\n'),
    fc.constantFrom('', '\n', '\n\n'),
  )
  .map(([lines, eol, end]) => (lines.join('\n') + end).replaceAll('\n', eol))
