import Anthropic from '@anthropic-ai/sdk'
import { open } from 'punchlist'
import { answerCall, toolsFor } from 'punchlist/tools'

// Each message of a user is a turn, with a plan of its own.
const list = await open({ conversation: 'anthropic', turn: crypto.randomUUID() })
const ours = await toolsFor(list)
const tools = ours.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }))

const client = new Anthropic()
const model = process.env.MODEL ?? 'claude-sonnet-5-5'
const system = 'Plan with create_todo, work the items off, and answer when nothing remains.'
const messages: Anthropic.MessageParam[] = [
  { role: 'user', content: process.argv[2] ?? 'Write the parser and test it' },
]
for (let calls = 0; calls < 50; calls++) {
  const { content } = await client.messages.create({ model, max_tokens: 4096, system, messages, tools })
  messages.push({ role: 'assistant', content })
  const results: Anthropic.ToolResultBlockParam[] = []
  for (const block of content) {
    if (block.type === 'text') console.log(block.text)
    if (block.type !== 'tool_use') continue
    const { text, refused } = await answerCall(ours, block.name, block.input)
    results.push({ type: 'tool_result', tool_use_id: block.id, content: text, is_error: refused })
  }
  if (results.length > 0) {
    messages.push({ role: 'user', content: results })
    continue
  }
  const undone = (await list.plan.list()).items.filter(({ needs }) => needs === null)
  if (undone.length === 0) break
  messages.push({ role: 'user', content: `Still open: ${undone.map(({ title }) => title).join(', ')}. Go on.` })
}

const { items, summary } = await list.plan.list()
console.log(`${summary.completed} of ${summary.total} completed`)
for (const { title, needs } of items) console.log(`left: ${title}, ${needs ?? 'open'}`)
await list.close()
