import { describe, expect, test } from 'vitest'
import { type Stage, stageOf, wrongAfter } from '../support/answer-sweep.ts'
import { ANSWER_VERBS } from '../support/answer-verbs.ts'

/** `npm run soak` sets it: every verb, every call, every fault. */
const long = process.env['STORM'] !== undefined
const VERBS = long
  ? Object.keys(ANSWER_VERBS).filter(verb => verb.startsWith(process.env['VERBS'] ?? ''))
  : ['queue add of a batch', 'queue complete', 'queue cancel', 'backlog complete']
const SAMPLE = 12

describe.each(VERBS)(
  '%s',
  verb => {
    test('answered means it is there, refused means no trace, whatever fails and wherever it is killed', async () => {
      const stage = await stageOf(verb)
      expect(stage.after).not.toBe(verb === 'queue heartbeat' ? '' : stage.before)
      expect(stage.strikes.length).toBeGreaterThan(SAMPLE)
      const strikes = long ? stage.strikes : sampleOf(stage)
      const wrong: string[] = []
      const rest = [...strikes]
      const worker = async () => {
        for (let one; (one = rest.shift()) !== undefined; ) {
          const found = await wrongAfter(stage, one)
          if (found === undefined) continue
          wrong.push(found)
          if (long) process.stdout.write(`${verb}: ${found}\n`)
        }
      }
      await Promise.all([worker(), worker()])
      if (long) process.stdout.write(`${verb}: ${strikes.length} strikes, ${wrong.length} wrong\n`)
      expect(wrong).toEqual([])
    })
  },
  1_800_000,
)

/** The same few each time, from the beginning to the end. */
function sampleOf({ strikes }: Stage) {
  return Array.from({ length: SAMPLE }, (_, n) => strikes[Math.floor((n * strikes.length) / SAMPLE)]!)
}
