import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { open } from '../../src/index.ts'
import { scratch } from '../support/scratch.ts'
import { textsIn } from '../support/scripted-model.ts'
import { aList, completed, planIn, planned, play, told } from './stage.ts'

/** A folder in which the check passes as soon as a certain file is there. */
async function checked(settings = {}) {
  const root = scratch()
  writeFileSync(join(root, 'punchlist.json'), JSON.stringify(settings))
  const proof = join(root, 'proof')
  const list = await open({ root, store: 'sqlite::memory:' })
  return { list, check: ['test', '-f', proof], mend: () => writeFileSync(proof, ''), proof }
}

test('with a check, the check decides and not the model', async () => {
  const { list, check, mend } = await checked()
  const { result, events, asked } = await play(
    list,
    [
      planned('Mend it'),
      { calls: [completed(1, 'mended, I am sure')] },
      () => {
        mend()
        return { calls: [completed(1, 'really')] }
      },
      { text: 'Mended.' },
    ],
    { check },
  )
  expect(result).toMatchObject({ calls: 4, end: 'answered', remaining: 0 })
  const [refused] = told(events, 'tool_failed')
  expect(refused!.error).toMatch(/^move_refused: The check of \S+ failed \(exit 1\): test -f /)
  expect(refused!.error).toContain('Mend what it complains of and complete the item again.')
  expect(JSON.stringify(asked[2]!.prompt)).toContain('Mend what it complains of')
  expect(textsIn(asked[2]!).at(-1)).toContain('0/1 completed, 1 remaining')
  expect(await planIn(list)).toMatchObject([{ status: 'completed', outcome: 'really', verifiedAt: expect.any(String) }])
})

test.each([
  ['makes', 'completed'],
  ['breaks', 'pending'],
])('a check sees what a tool %s that was called before the completion in the same breath', async (how, status) => {
  const { list, check, mend, proof } = await checked()
  if (how === 'breaks') mend()
  const execute = async () => {
    await new Promise(done => setTimeout(done, 50))
    if (how === 'breaks') rmSync(proof)
    else mend()
    return 'ready'
  }
  const tools = { work: tool({ inputSchema: z.object({}), execute }) }
  const both = { calls: [{ tool: 'work' }, completed(1)] }
  const limits = { base: 3, withPlan: 3 }
  await play(list, [planned('A'), both, { text: 'Done.' }], { check, tools, limits })
  expect(await planIn(list)).toMatchObject([{ status }])
})

test('a model that insists ends with the item named as left', async () => {
  const { list, check } = await checked()
  const insist = { text: 'Done! ', calls: [completed(1, 'done')] }
  const { result, shown } = await play(list, [planned('Mend it'), insist], { check, limits: { base: 3, withPlan: 6 } })
  // A check that fails again buys no further calls.
  expect(result).toMatchObject({ calls: 4, end: 'budget', remaining: 1 })
  expect(result.text).toBe('Done! \n\nLeft in the plan:\n- Mend it (pending)')
  expect(shown).toBe(result.text)
  expect(await planIn(list)).toMatchObject([{ status: 'pending', verifiedAt: null, verification: { exit: 1 } }])
})

test('a check holds for a plan that was there before it, and for one that is brought along', async () => {
  const { list, check, mend } = await checked()
  const short = { limits: { base: 2, withPlan: 2 } }
  const claim = [{ calls: [completed(1, 'done')] }, { text: 'Done.' }]
  await play(list, [planned('Old'), { text: 'Later' }], short)
  const again = await play(list, claim, { check, ...short })
  expect(again.result).toMatchObject({ remaining: 1, left: [{ title: 'Old', status: 'pending' }] })
  const brought = { check, how: { carry: true as const }, message: { id: 'm2', content: 'Go on' } }
  expect((await play(list, claim, { ...brought, ...short })).result.remaining).toBe(1)
  mend()
  expect((await play(list, claim, { ...brought, ...short })).result.remaining).toBe(0)
  expect(await planIn(list, 'm2')).toMatchObject([{ status: 'completed', verifiedAt: expect.any(String) }])
})

test.each(['self', 'verified'])(
  'what is brought along stays under its check, where turns begin as %s',
  async completion => {
    const { list, check, mend } = await checked({ plan: { completion } })
    const short = { limits: { base: 2, withPlan: 2 } }
    await play(list, [planned('Mend it'), { text: 'Later' }], { check, ...short })
    const brought = { how: { carry: true as const }, message: { id: 'm2', content: 'Go on' } }
    const claim = [{ calls: [completed(1, 'done')] }, { text: 'Done.' }]
    expect((await play(list, claim, { ...brought, ...short })).result.remaining).toBe(1)
    mend()
    expect((await play(list, claim, { ...brought, ...short })).result.remaining).toBe(0)
    expect(await planIn(list, 'm2')).toMatchObject([{ status: 'completed', verifiedAt: expect.any(String) }])
  },
)

test('a turn with stricter rules keeps them under a supervisor that asks for less', async () => {
  const { list, check } = await checked()
  await list
    .as({ conversationId: 'c', turnId: 'm1' })
    .plan.turn({ turnId: 'm1', completion: 'verified', check: check.join(' ') })
  const { result } = await play(list, [planned('A'), { calls: [completed(1, 'src/a.ts')] }, { text: 'Done.' }], {
    completion: 'evidence',
    limits: { base: 3, withPlan: 3 },
  })
  expect(result.remaining).toBe(1)
})

test('where completions need evidence, an outcome that names none is refused and told how', async () => {
  const list = await aList()
  const items = [{ title: 'Mend it', completionCriteria: 'tests pass' }]
  const { result, events } = await play(
    list,
    [
      { calls: [{ tool: 'create_todo', input: { items } }] },
      { calls: [completed(1, 'I did it')] },
      { calls: [completed(1, 'the lock is in src/cache.ts')] },
      { text: 'Done.' },
    ],
    { completion: 'evidence' },
  )
  expect(result).toMatchObject({ calls: 4, remaining: 0 })
  expect(told(events, 'tool_failed').map(({ error }) => error)).toEqual([
    expect.stringMatching(/^move_refused: .*missing evidence\nSay in the outcome which file/),
  ])
})

test('a model cannot bring a check of its own', async () => {
  const { list, proof } = await checked()
  const items = [{ title: 'A', check: `touch ${proof}`, checkCommand: ['touch', proof] }]
  const calls = [completed(1)]
  const { result } = await play(list, [
    { calls: [{ tool: 'create_todo', input: { items } }] },
    { calls },
    { text: 'x' },
  ])
  expect(result.remaining).toBe(0)
  expect(existsSync(proof)).toBe(false)
})
