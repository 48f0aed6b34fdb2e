import { tracingChannel } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isStepCount, jsonSchema, streamText, type ToolSet, tool } from 'ai'
import { open, type Punchlist } from '../src/index.ts'
import { aiTools, CHANNELS, createSupervisor } from '../src/supervisor/index.ts'
import { type Cue, scripted } from '../test/support/scripted-model.ts'
import { ms, type Row, rates } from './measure.ts'

const ITEMS = 50
const CALLS = 50
const ROUNDS = 20

/**
 * What a supervisor adds to each call of its model: how the plan of 50 items
 * stands, the budget, a call of a plan tool, all in a database on disk. Against the
 * SDK's own loop with the same model, the same messages of it and tools that do
 * nothing. The ratio is the difference, in milliseconds.
 */
export async function supervisor(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  const list = await open({ root: folder, store: `sqlite:${join(folder, 'supervisor.db')}` })
  try {
    const idle = await idleTools(list)
    let turn = 0
    const works = [
      () => bareTurn(idle),
      () => ourTurn(list, `t${turn++}`),
      () => listening(() => ourTurn(list, `t${turn++}`)),
    ]
    const [bare, quiet, traced] = (await rates(works, CALLS, ROUNDS)).map(rate => 1000 / rate)
    const row = (what: string, ours: number): Row => ({
      what: `supervisor: a call of the model, ${ITEMS} items, ${what}; ms over the bare loop`,
      ours: ms(ours),
      against: `AI SDK: ${ms(bare!)}`,
      ratio: ours - bare!,
      bar: 2,
      must: 'at most',
    })
    return [row('SQLite', quiet!), row('traced', traced!)]
  } finally {
    await list.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A plan of which one item after the other is started: all of them stay open. */
const script: Cue = (_, call) => {
  if (call === 1) return { calls: [{ tool: 'create_todo', input: { items: titles } }] }
  if (call === CALLS) return { text: 'Enough.' }
  return { calls: [{ tool: 'start_todo', input: { todoId: String(call - 1) } }] }
}
const titles = Array.from({ length: ITEMS }, (_, n) => ({ title: `Look into what happens in case number ${n + 1}` }))

async function ourTurn(list: Punchlist, id: string): Promise<void> {
  const { calls } = await createSupervisor({ model: scripted(script), store: list }).handleMessage({
    id,
    content: 'Go',
  }).result
  if (calls !== CALLS) throw new Error(`${calls} calls`)
}

async function bareTurn(tools: ToolSet): Promise<void> {
  const made = streamText({ model: scripted(script), prompt: 'Go', tools, stopWhen: isStepCount(CALLS) })
  let calls = 0
  for await (const part of made.stream) if (part.type === 'finish-step') calls += 1
  if (calls !== CALLS) throw new Error(`${calls} calls`)
}

/** The same tools as far as the model can tell, which answer what ours answer and do nothing. */
async function idleTools(list: Punchlist): Promise<ToolSet> {
  const plan = list.as({ conversationId: 'idle', turnId: 'idle' }).plan
  const created = await plan.create({ items: titles })
  const started = await plan.start()
  return Object.fromEntries(
    Object.entries(await aiTools(list)).map(([name, { description, inputSchema }]) => {
      const output = name === 'create_todo' ? created : started
      const given = { description: description as string, inputSchema: inputSchema as ReturnType<typeof jsonSchema> }
      return [name, tool({ ...given, execute: async () => output })]
    }),
  )
}

async function listening<T>(work: () => Promise<T>): Promise<T> {
  const heard = () => undefined
  const subscribers = { start: heard, end: heard, asyncStart: heard, asyncEnd: heard, error: heard }
  const channels = Object.values(CHANNELS).map(name => tracingChannel(name))
  for (const channel of channels) channel.subscribe(subscribers)
  try {
    return await work()
  } finally {
    for (const channel of channels) channel.unsubscribe(subscribers)
  }
}
