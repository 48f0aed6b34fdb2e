import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Where } from '../../src/hosts/install/host.ts'
import { readJson, uncommented, valueOf } from '../../src/hosts/install/json.ts'
import type { Piece } from '../../src/hosts/install/piece.ts'
import { readToml } from '../../src/hosts/install/toml.ts'
import { WIRINGS } from '../../src/hosts/install/wirings.ts'
import { jsonFile, markdownFile, tomlFile } from './install-texts.ts'

const where = (level: 'project' | 'user'): Where => ({ level, root: '/p', home: '/h', env: {}, own: '/o' })
const all = WIRINGS.flatMap(wiring => wiring.levels.flatMap(level => wiring.pieces(where(level)))).filter(
  ({ path }) => path !== '.github/hooks/punchlist.json' && path !== '.copilot/hooks/punchlist.json',
)
const inFiles = (ending: RegExp) => all.filter(({ path, name }) => ending.test(path) && name !== 'skill')
const RUNS = { numRuns: 40 }

/** Puts it in twice and takes it out: the second time changes nothing, and the file is what it was. */
function thereAndBack(piece: Piece, before: string): string {
  const after = piece.put(before)
  expect(piece.look(after)).not.toBe('missing')
  expect(piece.put(after)).toBe(after)
  expect(piece.take(after)).toBe(before)
  return after
}

describe('what init puts into a file can be taken out to the last byte', () => {
  test('JSON, whoever wrote it', () => {
    for (const piece of inFiles(/\.json$/)) {
      fc.assert(
        fc.property(jsonFile, text => void thereAndBack(piece, text)),
        RUNS,
      )
    }
  })

  test('TOML', () => {
    for (const piece of inFiles(/\.toml$/)) {
      fc.assert(
        fc.property(tomlFile, text => {
          readToml(thereAndBack(piece, text))
        }),
        RUNS,
      )
    }
  })

  test('files of instructions', () => {
    for (const piece of inFiles(/\.md$/))
      fc.assert(
        fc.property(markdownFile, text => void thereAndBack(piece, text)),
        RUNS,
      )
  })

  test('a file that init made is gone again', () => {
    for (const piece of all) expect(piece.take(piece.put(undefined)), piece.path).toBeUndefined()
  })

  test('several hosts in one file, whichever is taken out first', () => {
    const wired = inFiles(/^\.(?:gemini|qwen|claude)\/settings\.json$/)
    fc.assert(
      fc.property(jsonFile, fc.shuffledSubarray(wired, { minLength: 2 }), (text, pieces) => {
        const full = pieces.reduce((file, piece) => piece.put(file), text)
        expect(pieces.reduce<string | undefined>((file, piece) => piece.take(file!), full)).toBe(text)
        expect(pieces.reduceRight<string | undefined>((file, piece) => piece.take(file!), full)).toBe(text)
      }),
      RUNS,
    )
  })
})

test('everything else in a JSON file is read as before, remarks included', () => {
  const [piece] = inFiles(/^\.claude\/settings\.json$/)
  const remarks = (text: string) => text.match(/\/\/ as it is|\/\* (?:so|none) \*\//g)?.length
  fc.assert(
    fc.property(jsonFile, text => {
      const after = piece!.put(text)
      expect(remarks(after)).toBe(remarks(text))
      const before = valueOf(readJson(text)) as Record<string, unknown>
      const now = valueOf(readJson(after)) as { hooks: Record<string, unknown[]> }
      expect(now).toMatchObject({ ...before, hooks: {} })
      for (const [event, groups] of Object.entries((before['hooks'] ?? {}) as Record<string, unknown[]>)) {
        expect(now.hooks[event]!.slice(0, groups.length)).toEqual(groups)
      }
      // Without remarks and trailing commas any other reader agrees.
      const strict = uncommented(after).replace(/"(?:[^"\\]|\\.)*"|^\uFEFF|,(?=\s*[\]}])/g, part =>
        part.startsWith('"') ? part : '',
      )
      expect(JSON.parse(strict)).toEqual(now)
    }),
    RUNS,
  )
})

test('a file that a formatter went over in between loses what init wrote and nothing else', () => {
  for (const piece of inFiles(/^\.(?:claude|gemini)\/settings\.json$/)) {
    fc.assert(
      fc.property(jsonFile, fc.constantFrom(0, 2, 4, '\t'), (text, indent) => {
        const formatted = JSON.stringify(valueOf(readJson(piece.put(text))), null, indent)
        const left = piece.take(formatted)
        expect(filled(left === undefined ? {} : valueOf(readJson(left)))).toEqual(filled(valueOf(readJson(text))))
      }),
      RUNS,
    )
  }
})

/** Without the lists and objects of hooks and servers that are empty. */
function filled(document: unknown): unknown {
  const { hooks, mcpServers, ...others } = document as Record<string, Record<string, unknown> | undefined>
  const some = (value: object | undefined) =>
    Object.entries(value ?? {}).filter(([, one]) => !Array.isArray(one) || one.length > 0)
  return { ...others, hooks: some(hooks), mcpServers: some(mcpServers) }
}
