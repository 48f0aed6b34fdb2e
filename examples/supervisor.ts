import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { open } from 'punchlist'
import { createSupervisor } from 'punchlist/ai'

const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY = '', MODEL = 'gpt-6.1-terra' } = process.env
const provider = createOpenAICompatible({ name: 'openai', baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY })

const list = await open()
const supervisor = createSupervisor({
  model: provider(MODEL),
  store: list,
  instructions: 'You lead a small team of engineers.',
  workers: {
    programmer: { description: 'writes code', instructions: 'Write what you are asked for, and say what you wrote.' },
    tester: { description: 'runs the tests', run: async ({ task }) => `${task}: all green` },
  },
})

// Plans, delegates, works the plan off, and only then answers. The turn is named by the id of the message.
const message = { id: crypto.randomUUID(), content: process.argv[2] ?? 'Write the parser and test it' }
const turn = supervisor.handleMessage(message, { conversationId: 'supervisor' })
for await (const event of turn.events) {
  if (event.type === 'delegated') console.log(`${event.agentType}: ${event.task}`)
  if (event.type === 'sent_back') console.log(`not yet: ${event.remaining} left`)
}
const { text, left } = await turn.result
console.log(text)
for (const { title, needs } of left) console.log(`left: ${title}, ${needs ?? 'open'}`)
await list.close()
