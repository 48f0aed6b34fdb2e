import { Agent } from '@mastra/core/agent'
import type { MessageInput } from '@mastra/core/agent/message-list'
import { createTool } from '@mastra/core/tools'
import { open } from 'punchlist'
import { toolsFor } from 'punchlist/tools'

// Each message of a user is a turn, with a plan of its own.
const list = await open({ conversation: 'mastra', turn: crypto.randomUUID() })
const ours = await toolsFor(list)
const tools = ours.map(({ name, description, inputSchema, answer }) =>
  createTool({ id: name, description, inputSchema, execute: async input => (await answer(input)).text }),
)

const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY = '', MODEL = 'gpt-6.1-terra' } = process.env
const agent = new Agent({
  id: 'engineer',
  name: 'Engineer',
  instructions: 'Plan with create_todo, work the items off, and answer when nothing remains.',
  model: { id: `openai/${MODEL}`, url: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY },
  tools: Object.fromEntries(tools.map(tool => [tool.id, tool])),
})

const messages: MessageInput[] = [{ role: 'user', content: process.argv[2] ?? 'Write the parser and test it' }]
for (let rounds = 0; rounds < 5; rounds++) {
  const { text, response } = await agent.generate(messages, { maxSteps: 50 })
  console.log(text)
  messages.push(...(response.messages ?? []))
  const undone = (await list.plan.list()).items.filter(({ needs }) => needs === null)
  if (undone.length === 0) break
  messages.push({ role: 'user', content: `Still open: ${undone.map(({ title }) => title).join(', ')}. Go on.` })
}

const { items, summary } = await list.plan.list()
console.log(`${summary.completed} of ${summary.total} completed`)
for (const { title, needs } of items) console.log(`left: ${title}, ${needs ?? 'open'}`)
await list.close()
