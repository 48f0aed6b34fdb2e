import { beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { settingsSchema } from '../../src/settings.ts'
import { scratch } from '../support/scratch.ts'
import { type Base, prepareBase } from './base.ts'
import { everyCommand, LEFT_OUT } from './commands.ts'
import { KINDS } from './kinds.ts'
import { commandsFor, hindrance, spring } from './matrix.ts'
import { HARMLESS, SETTINGS, TRAPS } from './traps.ts'

const commands = await everyCommand()
let base: Base

beforeAll(() => {
  base = prepareBase(scratch())
})

/** Half a minute for each that hangs, if all do. */
const LONG_MS = 30 * 60_000

describe('a folder that somebody else has prepared does no harm', () => {
  for (const trap of TRAPS) {
    const kinds = KINDS.filter(kind => !hindrance(kind, trap))
    test.skipIf(kinds.length === 0)(trap.name, { timeout: LONG_MS }, async () => {
      const { failures } = await spring(trap, commands, { base, scratch }, false)
      expect(failures).toEqual([])
    })
  }
})

describe('the cover', () => {
  test('meets every pair of folder, trap and command', () => {
    const met = new Set<string>()
    for (const kind of KINDS)
      for (const trap of TRAPS.filter(one => !hindrance(kind, one))) {
        met.add(`${kind.name} | ${trap.name}`)
        for (const { name } of commandsFor(kind, trap, commands, false)) {
          met.add(`${trap.name} | ${name}`)
          met.add(`${kind.name} | ${name}`)
        }
      }
    const missing: string[] = []
    const must = (pair: string) => met.has(pair) || missing.push(pair)
    for (const { name } of commands) {
      for (const kind of KINDS) if (TRAPS.some(trap => !hindrance(kind, trap))) must(`${kind.name} | ${name}`)
      for (const trap of TRAPS) if (KINDS.some(kind => !hindrance(kind, trap))) must(`${trap.name} | ${name}`)
    }
    for (const trap of TRAPS)
      for (const kind of KINDS)
        if (!hindrance(kind, trap) && commandsFor(kind, trap, commands, false).length === 0)
          missing.push(`${kind.name} | ${trap.name}`)
    expect(missing).toEqual([])
  })

  test('has every command of the terminal, but for those that are left out for a reason', () => {
    const typed = new Set(commands.map(({ argv }) => argv[0]))
    expect(Object.keys(COMMANDS).filter(name => !typed.has(name))).toEqual(Object.keys(LEFT_OUT))
  })

  test('has every key of the settings, but for those that can do no harm', () => {
    const keys = leaves(settingsSchema)
    const known = [...Object.keys(SETTINGS), ...Object.keys(HARMLESS)]
    expect(keys.filter(key => !known.includes(key))).toEqual([])
    expect(known.filter(key => !keys.includes(key))).toEqual([])
  })

  test('leaves out only what cannot be prepared, and says how much', async ({ annotate }) => {
    const out = TRAPS.flatMap(trap => KINDS.flatMap(kind => hindrance(kind, trap) ?? []))
    const counts = [...Map.groupBy(out, reason => reason)].map(([reason, all]) => `${all.length} folders: ${reason}`)
    for (const count of counts) await annotate(count)
    const beyondGit = TRAPS.filter(trap => trap.beyondGit).length * KINDS.filter(kind => kind.byGit).length
    if (process.getuid?.() === 0) expect(counts).toEqual([`${beyondGit} folders: git keeps neither FIFOs nor devices`])
  })
})

interface Schema {
  readonly type?: string
  readonly wrapped?: Schema
  readonly pipe?: readonly Schema[]
  readonly entries?: Readonly<Record<string, Schema>>
}

/** The keys that have a value of their own, with dots. */
function leaves(schema: Schema, path = ''): string[] {
  if (schema.wrapped) return leaves(schema.wrapped, path)
  if (!schema.entries) return [path]
  return Object.entries(schema.entries).flatMap(([key, inner]) => leaves(inner, path ? `${path}.${key}` : key))
}
