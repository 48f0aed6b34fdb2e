import { ChatOpenAI } from '@langchain/openai'
import { type BaseMessage, createAgent, HumanMessage, tool } from 'langchain'
import { open } from 'punchlist'
import { toolsFor } from 'punchlist/tools'

// Each message of a user is a turn, with a plan of its own.
const list = await open({ conversation: 'langchain', turn: crypto.randomUUID() })
const ours = await toolsFor(list)
const agent = createAgent({
  model: new ChatOpenAI({ model: process.env.MODEL ?? 'gpt-6.1-terra' }),
  systemPrompt: 'Plan with create_todo, work the items off, and answer when nothing remains.',
  tools: ours.map(({ name, description, inputSchema, answer }) =>
    // LangChain checks what the model sends by itself; verbose, it also says what is wrong with it.
    tool(async input => (await answer(input)).text, {
      name,
      description,
      schema: inputSchema,
      verboseParsingErrors: true,
    }),
  ),
})

let messages: BaseMessage[] = [new HumanMessage(process.argv[2] ?? 'Write the parser and test it')]
for (let rounds = 0; rounds < 5; rounds++) {
  ;({ messages } = await agent.invoke({ messages }, { recursionLimit: 100 }))
  console.log(messages.at(-1)?.text)
  const undone = (await list.plan.list()).items.filter(({ needs }) => needs === null)
  if (undone.length === 0) break
  messages.push(new HumanMessage(`Still open: ${undone.map(({ title }) => title).join(', ')}. Go on.`))
}

const { items, summary } = await list.plan.list()
console.log(`${summary.completed} of ${summary.total} completed`)
for (const { title, needs } of items) console.log(`left: ${title}, ${needs ?? 'open'}`)
await list.close()
