import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, type ModelMessage } from 'ai'
import { open } from 'punchlist'
import { aiTools } from 'punchlist/ai'

// Each message of a user is a turn, with a plan of its own.
const list = await open({ conversation: 'ai-sdk', turn: crypto.randomUUID() })
const tools = await aiTools(list)

const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY = '', MODEL = 'gpt-6.1-terra' } = process.env
const provider = createOpenAICompatible({ name: 'openai', baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY })
const messages: ModelMessage[] = [{ role: 'user', content: process.argv[2] ?? 'Write the parser and test it' }]
for (let rounds = 0; rounds < 5; rounds++) {
  const { text, responseMessages } = await generateText({
    model: provider(MODEL),
    instructions: 'Plan with create_todo, work the items off, and answer when nothing remains.',
    messages,
    tools,
    stopWhen: isStepCount(50),
  })
  console.log(text)
  messages.push(...responseMessages)
  const undone = (await list.plan.list()).items.filter(({ needs }) => needs === null)
  if (undone.length === 0) break
  messages.push({ role: 'user', content: `Still open: ${undone.map(({ title }) => title).join(', ')}. Go on.` })
}

const { items, summary } = await list.plan.list()
console.log(`${summary.completed} of ${summary.total} completed`)
for (const { title, needs } of items) console.log(`left: ${title}, ${needs ?? 'open'}`)
await list.close()
