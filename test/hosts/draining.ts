import { expect, test } from 'vitest'
import { MARK } from '../../src/continuation/prompt.ts'
import type { DrivenAgent } from './driven/agents.ts'
import { Drained } from './driven/drained.ts'
import type { Asked, Script, Step } from './script.ts'
import { completes, makesPlan, sentOn, TITLES } from './scripts.ts'

const EARLY = 'Stop with the plan open'
const WARD = 'Answer wrongly at first'
const DIES = 'Die in the middle'

/** More than one word of a command line can hold. */
const LONG = `-- ${'as agreed '.repeat(15_000)}`

/** Nothing that answers wrongly passes. */
const WARDS = ["sh -c 'test ! -e answer.txt || grep -x 42 answer.txt'"]

/** It starts the program six times, which takes OpenCode a minute where others are at work, too. */
const PATIENCE = { timeout: 300_000 }

/** What `punchlist run` owes of an agent that is wired with its hooks. */
export function drainsTasks(agent: DrivenAgent): void {
  const { name } = agent.host

  test(
    `${name} does three tasks, of which it leaves one early, fails the ward of one and dies in one`,
    PATIENCE,
    async () => {
      const drained = new Drained(agent, { wards: WARDS })
      const [early, ward, dies] = [await drained.add(EARLY, LONG), await drained.add(WARD), await drained.add(DIES)]
      const acts = {
        [EARLY]: stopsEarly(BY_TOOLS),
        [WARD]: isMended(agent),
        [DIES]: isKilled(() => drained.kill(dies)),
      }
      const { status, stdout, stderr, asked } = await drained.run(true, byTask(acts))
      expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' })
      for (const task of await drained.tasks()) {
        expect(task).toMatchObject({ state: 'completed', verifiedAt: expect.stringMatching(/Z$/) })
      }

      expect(texts(asked[0]!)).toContain(LONG.trim())
      expect(sentOn(renumbered(asked, EARLY))).toEqual([3])
      expect(await drained.plan(early)).toEqual(TITLES.map(title => [title, 'completed']))
      expect(drained.attempts(early)).toEqual([1])

      expect(drained.wards(ward)).toEqual([false, true])
      const [begun, resumed] = drained.sessions(ward)
      expect(begun).toBeNull()
      expect(drained.printed(ward)[0]).toContain(resumed)
      expect(drained.attempts(ward)).toEqual([1])

      expect(drained.ends(dies)).toEqual(['SIGKILL', 0])
      expect(drained.sessions(dies)).toEqual([null, null])
      expect(drained.attempts(dies)).toEqual([1, 2])
      expect(texts(asked.at(-1)!)).toContain(`${agent.host.name}: ended by SIGKILL`)
    },
  )

  test(`${name} is not sent on more often than once where that is the limit, by its hooks and by the run together`, async () => {
    const drained = new Drained(agent, { continuation: { maxFruitless: 1 } })
    const task = await drained.add(EARLY)
    const { status, stdout, stderr, asked } = await drained.run(true, getsNothingDone(makesPlan), '--max-attempts', '1')
    expect({ status, stderr, sentOn: sentOn(asked) }, stdout).toEqual({ status: 5, stderr: '', sentOn: [3] })
    expect(asked).toHaveLength(3)
    expect(drained.ended(task)).toMatchObject({ outcome: 'failed', text: expect.stringContaining('2 of 2 items') })
  })
}

/** The same for one that knows nothing of punchlist. */
export function drainsUnwired(agent: DrivenAgent): void {
  test(`${agent.host.name}, unwired, is sent on in the same session by the run, once where that is the limit`, async () => {
    const drained = new Drained(agent, { continuation: { maxFruitless: 1 } })
    const byShell: Planning = {
      makes: agent.shell(`punchlist plan add ${TITLES.map(title => `'${title}'`).join(' ')}`),
      completes: nth => () => agent.shell(`punchlist plan complete ${nth} 'the ${nth}. is done'`),
    }
    const task = await drained.add(EARLY)
    const idle = await drained.add('Get nothing done')
    const acts = { [EARLY]: stopsEarly(byShell), 'Get nothing done': getsNothingDone(byShell.makes) }
    const { status, stdout, asked } = await drained.run(false, byTask(acts), '--max-attempts', '1')
    expect(status, stdout).toBe(5)
    expect(sentOn(renumbered(asked, EARLY))).toEqual([3])
    expect(await drained.plan(task)).toEqual(TITLES.map(title => [title, 'completed']))
    expect(drained.ended(task)).toMatchObject({ outcome: 'completed' })
    const [begun, resumed] = drained.sessions(task)
    expect(begun).toBeNull()
    expect(drained.printed(task)[0]).toContain(resumed)

    expect(sentOn(renumbered(asked, 'Get nothing done'))).toEqual([3])
    expect(drained.sessions(idle)).toHaveLength(2)
    expect(drained.ended(idle)).toMatchObject({ outcome: 'failed' })
  })
}

interface Planning {
  readonly makes: Step
  readonly completes: (nth: number) => (asked: Asked) => Step
}

const BY_TOOLS: Planning = { makes: makesPlan, completes }

/** Makes a plan and stops; does what is in it when it is reminded. */
function stopsEarly({ makes, completes: complete }: Planning): Script {
  return asked => {
    const done = results(asked)
    if (done === 0) return makes
    if (!texts(asked).includes(MARK)) return { say: 'A plan.' }
    return done <= TITLES.length ? complete(done)(asked) : { say: 'All done.' }
  }
}

function getsNothingDone(makes: Step): Script {
  return asked => (results(asked) === 0 ? makes : { say: 'Later.' })
}

function isMended({ shell }: DrivenAgent): Script {
  return asked => {
    if (results(asked) === 0) return shell('echo 41 | tee answer.txt')
    if (!texts(asked).includes('is not done yet')) return { say: 'It is 41.' }
    return results(asked) === 1 ? shell('echo 42 | tee answer.txt') : { say: 'It is 42.' }
  }
}

function isKilled(kill: () => void): Script {
  return asked => {
    if (!texts(asked).includes('What came of earlier attempts')) kill()
    return { say: 'I live.' }
  }
}

/** Each task has a script of its own. */
function byTask(scripts: Readonly<Record<string, Script>>): Script {
  return asked => {
    const [, script] = Object.entries(scripts).find(([title]) => isAbout(asked, title)) ?? []
    return script?.(asked) ?? { say: 'Which task?' }
  }
}

/** What the model was sent for one task, counted from 1. */
function renumbered(asked: readonly Asked[], title: string): Asked[] {
  return asked.filter(one => isAbout(one, title)).map((one, index) => ({ ...one, request: index + 1 }))
}

function isAbout(asked: Asked, title: string): boolean {
  return texts(asked).includes(`: ${title}`)
}

/** How many there were: Gemini CLI repeats those of a session that it has resumed. */
function results(asked: Asked): number {
  return new Set(asked.results).size
}

function texts(asked: Asked): string {
  return asked.texts.join('\n')
}
