import { Agent, type AgentInputItem, run, tool, user } from '@openai/agents'
import { open } from 'punchlist'
import { toolsFor } from 'punchlist/tools'

// Each message of a user is a turn, with a plan of its own.
const list = await open({ conversation: 'openai-agents', turn: crypto.randomUUID() })
const ours = await toolsFor(list)
const agent = new Agent({
  name: 'Engineer',
  model: process.env.MODEL ?? 'gpt-6.1-terra',
  instructions: 'Plan with create_todo, work the items off, and answer when nothing remains.',
  tools: ours.map(({ name, description, inputSchema, answer }) =>
    tool({
      name,
      description,
      // Strict schemas have no optional fields, and ours do.
      strict: false,
      parameters: { ...inputSchema, additionalProperties: true },
      execute: async input => (await answer(input)).text,
    }),
  ),
})

let messages: AgentInputItem[] = [user(process.argv[2] ?? 'Write the parser and test it')]
for (let rounds = 0; rounds < 5; rounds++) {
  const result = await run(agent, messages, { stream: true, maxTurns: 50 })
  await result.completed
  console.log(result.finalOutput)
  const undone = (await list.plan.list()).items.filter(({ needs }) => needs === null)
  if (undone.length === 0) break
  messages = [...result.history, user(`Still open: ${undone.map(({ title }) => title).join(', ')}. Go on.`)]
}

const { items, summary } = await list.plan.list()
console.log(`${summary.completed} of ${summary.total} completed`)
for (const { title, needs } of items) console.log(`left: ${title}, ${needs ?? 'open'}`)
await list.close()
