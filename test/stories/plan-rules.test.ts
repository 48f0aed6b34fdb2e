import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { answer, everywhere, punchlist, refusal } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

interface Shown {
  turn: { turnId: string; completion: string; check: string[] | null }
  remaining: number
}
interface Listed {
  items: { id: string; title: string; status: string }[]
}

/** How an agent of a run is known. */
const AGENT = { PUNCHLIST_RUN: 'a-run:req_0001' }
const ENGINES = { sqlite: () => ({}), postgres: () => ({ PUNCHLIST_STORE: freshSchema(inject('postgres')) }) }

describe.each(Object.entries(ENGINES))('the rules of a turn, on %s', (_engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  const person = () => ({ cwd: scratch() })
  const agentIn = ({ cwd }: { cwd: string }, env: Record<string, string> = {}) => ({ cwd, env: { ...AGENT, ...env } })
  const release = ['plan', 'turn', 'release', '--completion', 'verified', '--check', 'false']

  test('hold for the turn that begins by itself after it', async () => {
    const here = person()
    await answer(release, here)
    await answer(['plan', 'add', 'A'], here)
    // A named turn goes on when it is drained; one that began by itself is followed by the next.
    for (const conversation of ['named', 'unnamed']) {
      const agent = agentIn(here, { PUNCHLIST_CONVERSATION: conversation })
      const owner = { ...here, env: { PUNCHLIST_CONVERSATION: conversation } }
      if (conversation === 'named') await answer(release, owner)
      else {
        await answer(['plan', 'add', 'A'], owner)
        await answer(['plan', 'turn', '--completion', 'verified', '--check', 'false'], owner)
      }
      if (conversation === 'named') await answer(['plan', 'add', 'A'], agent)
      await answer(['plan', 'complete', '1', 'not needed', '--status', 'cancelled'], agent)
      await answer(['plan', 'add', 'B'], agent)
      expect(await answer<Shown>(['plan', 'turn'], agent)).toMatchObject({
        turn: { completion: 'verified', check: ['false'] },
      })
      const { items } = await answer<Listed>(['plan', 'list'], agent)
      expect(await refusal(['plan', 'complete', items[0]!.id, 'done'], agent)).toMatchObject({ status: 5 })
    }
  })

  test('hold for a turn that another name begins, and for items that are carried there', async () => {
    const here = person()
    await answer(release, here)
    await answer(['plan', 'add', 'A', 'B'], here)
    const elsewhere = agentIn(here, { PUNCHLIST_TURN: 'elsewhere' })
    for (const words of [
      ['plan', 'add', 'X'],
      ['plan', 'carry', '--from', 'release'],
      ['plan', 'turn', 'elsewhere'],
    ]) {
      expect(await refusal(words, elsewhere)).toMatchObject({ status: 5, code: 'move_refused' })
    }
    // Nothing took the place of the plan.
    expect(await answer<Shown>(['plan', 'turn'], agentIn(here))).toMatchObject({
      turn: { turnId: 'release', completion: 'verified' },
      remaining: 2,
    })
    await answer(['plan', 'carry', '--from', 'release'], { ...here, env: { PUNCHLIST_TURN: 'tuesday' } })
    expect(await refusal(['plan', 'complete', '1', 'done'], agentIn(here))).toMatchObject({ status: 5 })
  })

  test('hold for what is carried into a turn that was looser from the beginning', async () => {
    const here = person()
    await answer(['plan', 'turn', 'loose'], here)
    await answer(release, here)
    await answer(['plan', 'add', 'A'], here)
    const loose = agentIn(here, { PUNCHLIST_TURN: 'loose' })
    await answer(['plan', 'carry', '--from', 'release'], loose)
    expect(await refusal(['plan', 'complete', '1', 'done'], loose)).toMatchObject({ status: 5 })
  })

  test('cannot be prepared in advance by an agent', async () => {
    const here = person()
    await answer(['plan', 'turn', 'first'], here)
    const planted = agentIn(here)
    await answer(['plan', 'turn', 'planted', '--completion', 'self'], planted)
    await answer(release, here)
    const used = agentIn(here, { PUNCHLIST_TURN: 'planted' })
    await answer(['plan', 'add', 'A'], used)
    expect(await refusal(['plan', 'complete', '1', 'done'], used)).toMatchObject({ status: 5 })
    const looser = await refusal(['plan', 'turn', 'next', '--completion', 'self'], planted)
    expect(looser).toMatchObject({ status: 5, code: 'move_refused' })
    expect(looser.hint).toContain('a person')
  })

  test('are those of the settings where the conversation has had no turn', async () => {
    const here = person()
    writeFileSync(join(here.cwd, 'punchlist.json'), JSON.stringify({ plan: { completion: 'verified' } }))
    const agent = agentIn(here)
    expect(await refusal(['plan', 'turn', 't', '--completion', 'self'], agent)).toMatchObject({ status: 5 })
    await answer(['plan', 'turn', 't', '--completion', 'evidence'], here)
    // Loosening was for that turn: the next one is as strict as the settings again.
    await answer(['plan', 'turn', 'u'], here)
    expect(await answer<Shown>(['plan', 'turn'], here)).toMatchObject({ turn: { completion: 'verified' } })
  })

  test('are changed by a person, tightened by anyone, and the log tells what they were', async () => {
    const here = person()
    const agent = agentIn(here)
    await answer(['plan', 'turn', 't'], here)
    await answer(['plan', 'turn', '--completion', 'evidence'], agent)
    await answer(['plan', 'turn', '--check', 'npm test', '--completion', 'verified'], here)
    for (const words of [
      ['plan', 'turn', '--check', 'true'],
      ['plan', 'turn', '--completion', 'evidence'],
      ['plan', 'turn', 'new', '--check', 'true'],
      ['plan', 'add', 'A', '--check', 'true'],
    ]) {
      expect(await refusal(words, agent)).toMatchObject({ status: 5, code: 'move_refused' })
    }
    // The one that is there may be named again.
    await answer(['plan', 'turn', '--check', 'npm test'], agent)
    await answer(['plan', 'turn', '--check', 'npm run all'], here)
    const { events } = await answer<{ events: { kind: string; why: string | null }[] }>(['log'], here)
    expect(events.filter(({ kind }) => kind === 'turn').map(({ why }) => why)).toEqual([
      null,
      'completion: self -> evidence',
      'completion: evidence -> verified; check: none -> npm test',
      'check: npm test -> npm run all',
    ])
    const { stdout } = await punchlist(['plan', 'list', '--status', 'all'], here)
    expect(stdout).toContain('No plan yet.')
  })
})
