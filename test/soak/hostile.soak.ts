import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Base, prepareBase } from '../hostile/base.ts'
import { everyCommand } from '../hostile/commands.ts'
import { KINDS } from '../hostile/kinds.ts'
import { hindrance, spring } from '../hostile/matrix.ts'
import { TRAPS } from '../hostile/traps.ts'
import { scratch } from '../support/scratch.ts'

/** Every kind of folder with every trap under every command. */
const commands = await everyCommand()
let base: Base
let cases = 0
let failed = 0

beforeAll(() => {
  base = prepareBase(scratch())
})

afterAll(() => {
  const out = TRAPS.flatMap(trap => KINDS.flatMap(kind => hindrance(kind, trap) ?? []))
  process.stdout.write(
    `${KINDS.length} kinds of folder × ${TRAPS.length} traps × ${commands.length} commands: ${cases} cases, ${failed} failures\n`,
  )
  for (const [reason, all] of Map.groupBy(out, one => one))
    process.stdout.write(`left out: ${all.length} folders, ${reason}\n`)
})

describe('a folder that somebody else has prepared does no harm, under any command', () => {
  for (const trap of TRAPS) {
    test(trap.name, async () => {
      const tally = await spring(trap, commands, { base, scratch }, true)
      cases += tally.cases
      failed += tally.failures.length
      expect(tally.failures).toEqual([])
    })
  }
})
