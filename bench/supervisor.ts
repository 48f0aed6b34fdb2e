import { tracingChannel } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isStepCount, type jsonSchema, type LanguageModel, streamText, type ToolSet, tool } from 'ai'
import { open, type Punchlist } from '../src/index.ts'
import { aiTools, CHANNELS, createSupervisor } from '../src/supervisor/index.ts'
import { type Cue, scripted } from '../test/support/scripted-model.ts'
import { ms, type Row } from './measure.ts'

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
    const ours = (model: LanguageModel) => ourTurn(model, list, `t${turn++}`)
    const [bare, quiet, traced] = await perCall([
      model => bareTurn(model, idle),
      ours,
      model => listening(async () => await ours(model)),
    ])
    const row = (what: string, taken: number): Row => ({
      what: `supervisor: a call of the model, ${ITEMS} items, ${what}; ms over the bare loop`,
      ours: ms(taken),
      against: `AI SDK: ${ms(bare!)}`,
      ratio: taken - bare!,
      bar: 2,
      must: 'at most',
    })
    return [row('SQLite', quiet!), row('traced', traced!)]
  } finally {
    await list.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Turn = (model: LanguageModel) => Promise<unknown>

/** How long a call takes from its beginning to the next one's, in milliseconds: each by its best round, on average. */
async function perCall(turns: readonly Turn[]): Promise<number[]> {
  const best = turns.map(() => Array.from({ length: CALLS }, () => Infinity))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, turn] of turns.entries()) {
      const begun: number[] = []
      await turn(
        scripted((_, call) => {
          begun.push(performance.now())
          return script(call)
        }),
      )
      if (begun.push(performance.now()) !== CALLS + 1) throw new Error(`${begun.length - 1} calls`)
      best[index] = best[index]!.map((least, call) => Math.min(least, begun[call + 1]! - begun[call]!))
    }
  }
  return best.map(times => times.reduce((sum, time) => sum + time, 0) / CALLS)
}

/** A plan of which one item after the other is started: all of them stay open. */
function script(call: number): Exclude<Cue, (...given: never) => unknown> {
  if (call === 1) return { calls: [{ tool: 'create_todo', input: { items: titles } }] }
  if (call === CALLS) return { text: 'Enough.' }
  return { calls: [{ tool: 'start_todo', input: { todoId: String(call - 1) } }] }
}
const titles = Array.from({ length: ITEMS }, (_, n) => ({ title: `Look into what happens in case number ${n + 1}` }))

async function ourTurn(model: LanguageModel, store: Punchlist, id: string): Promise<void> {
  await createSupervisor({ model, store }).handleMessage({ id, content: 'Go' }).result
}

async function bareTurn(model: LanguageModel, tools: ToolSet): Promise<void> {
  await streamText({ model, prompt: 'Go', tools, stopWhen: isStepCount(CALLS) }).consumeStream()
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
