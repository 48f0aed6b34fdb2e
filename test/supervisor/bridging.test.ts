import { expect, test } from 'vitest'
import { createSupervisor } from '../../src/supervisor/index.ts'
import { type Cue, scripted, textsIn } from '../support/scripted-model.ts'
import { aList, completed, planned } from './stage.ts'

const LONG: readonly Cue[] = [
  planned('A', 'B'),
  { calls: [completed(2)] },
  { text: 'Done?' },
  { calls: [completed(1), completed(3)] },
  {},
  { text: 'Done.' },
]

/** A turn with a plan that was brought along, of a model that goes by these names. */
async function sent(provider: string, modelId: string) {
  const list = await aList()
  await list.as({ conversationId: 'c', turnId: 'm0' }).plan.create({ items: [{ title: 'Old' }] })
  const model = Object.assign(scripted(...LONG), { provider, modelId })
  const turn = createSupervisor({ model, store: list }).handleMessage(
    { id: 'm1', content: 'Do it' },
    { conversationId: 'c', carry: true },
  )
  expect(await turn.result).toMatchObject({ calls: 6, remaining: 0, text: 'Done.' })
  return model.doStreamCalls
}

test.each([
  ['mistral.chat', 'large'],
  ['openrouter.chat', 'mistralai/devstral-2512'],
  ['lmstudio.chat', 'Ministral-3-8B'],
])('a model of %s, %s, never hears a user right after a tool or a user', async (provider, id) => {
  const asked = await sent(provider, id)
  for (const { prompt } of asked) {
    const roles = prompt.map(({ role }) => role).join(' ')
    expect(roles).not.toMatch(/(?:tool|user) user/)
    expect(roles).toMatch(/ user$/)
  }
  // What is kept of one call begins the next: only the plan, and what leads over to it, are not.
  const kept = asked.map(({ prompt }) => prompt.slice(0, -2).map(message => JSON.stringify(message)))
  for (const [n, before] of kept.slice(0, -1).entries()) expect(kept[n + 1]!.slice(0, before.length)).toEqual(before)
})

test('to every other model nothing is said in its own name', async () => {
  for (const asked of await sent('openai.responses', 'gpt-5')) expect(textsIn(asked)).not.toContain('Noted.')
})
