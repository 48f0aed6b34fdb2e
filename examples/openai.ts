import OpenAI from 'openai'
import { open } from 'punchlist'
import { answerCall, toolsFor } from 'punchlist/tools'

// Each message of a user is a turn, with a plan of its own.
const list = await open({ conversation: 'openai', turn: crypto.randomUUID() })
const ours = await toolsFor(list)
const tools = ours.map(({ name, description, inputSchema }) => ({
  type: 'function' as const,
  function: { name, description, parameters: inputSchema },
}))

const client = new OpenAI()
const model = process.env.MODEL ?? 'gpt-6.1-terra'
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: 'Plan with create_todo, work the items off, and answer when nothing remains.' },
  { role: 'user', content: process.argv[2] ?? 'Write the parser and test it' },
]
for (let calls = 0; calls < 50; calls++) {
  const { choices } = await client.chat.completions.create({ model, messages, tools })
  const { message } = choices[0]!
  messages.push(message)
  for (const call of message.tool_calls ?? []) {
    if (call.type !== 'function') continue
    const { text } = await answerCall(ours, call.function.name, call.function.arguments)
    messages.push({ role: 'tool', tool_call_id: call.id, content: text })
  }
  if (message.tool_calls?.length) continue
  console.log(message.content)
  const undone = (await list.plan.list()).items.filter(({ needs }) => needs === null)
  if (undone.length === 0) break
  messages.push({ role: 'user', content: `Still open: ${undone.map(({ title }) => title).join(', ')}. Go on.` })
}

const { items, summary } = await list.plan.list()
console.log(`${summary.completed} of ${summary.total} completed`)
for (const { title, needs } of items) console.log(`left: ${title}, ${needs ?? 'open'}`)
await list.close()
