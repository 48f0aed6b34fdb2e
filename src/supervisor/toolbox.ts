import { jsonSchema, type ToolExecutionOptions, type ToolSet, tool } from 'ai'
import type { Caller, Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { callerOf, type Punchlist } from '../library.ts'
import { type InTurn, type Tool, told, toolOf } from '../tooling.ts'
import { type ToolSetName, toolsFor } from '../tools.ts'
import { traced } from './events.ts'
import type { UnderWay } from './under-way.ts'

/** The tools of some sets for the AI SDK's own functions and agents, in the scope of `list`. */
export async function aiTools(list: Punchlist, sets: readonly ToolSetName[] = ['plan']): Promise<ToolSet> {
  const offered = await toolsFor(list, sets)
  return Object.fromEntries(offered.map(one => [one.name, forTheSdk(one)]))
}

/** Operations as tools of one turn. */
export function turnTools(ops: readonly Operation[], caller: Caller, inTurn: InTurn): ToolSet {
  return Object.fromEntries(ops.map(op => [op.name, forTheSdk(toolOf(op, caller, inTurn))]))
}

function forTheSdk(ours: Tool) {
  return tool({
    description: ours.description,
    inputSchema: jsonSchema(ours.inputSchema),
    execute: async (input: unknown, { abortSignal }: ToolExecutionOptions<unknown>) =>
      await forTheModel(async () => {
        abortSignal?.throwIfAborted()
        return await ours.execute(input)
      }),
  })
}

/** Refusals are told to the model with code and hint, as the failure of its call. */
async function forTheModel<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof Problem ? new Error(told(error), { cause: error }) : error
  }
}

/** The tool by which the supervisor has something done by somebody else. */
export function delegateTool(
  names: readonly string[],
  planning: boolean,
  run: (sent: unknown) => Promise<unknown>,
): ToolSet[string] {
  const description = 'Have a specialist do something, and wait for what it says.'
  const todoId = { type: 'string' as const, description: 'the item it is about: it is started' }
  const unless = planning ? '; what the item says if absent' : ''
  return tool({
    description: planning ? `${description} The item stays yours to complete.` : description,
    inputSchema: jsonSchema({
      type: 'object',
      properties: {
        ...(planning ? { todoId } : {}),
        agentType: { type: 'string', enum: [...names], description: `who${unless}` },
        task: { type: 'string', description: 'what to do, with everything one needs to know' },
      },
      required: planning ? ['task'] : ['agentType', 'task'],
      additionalProperties: false,
    }),
    execute: async (input: unknown) => await forTheModel(() => run(input)),
  })
}

/** Tools that tell whoever listens when they are called, and are known to be under way. */
export function watched(tools: ToolSet, parent: object, called: UnderWay): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, one]) => {
      const { execute } = one
      if (!execute) return [name, one]
      const tracing = (input: never, options: ToolExecutionOptions<never>) => {
        let made: unknown
        const last = Promise.withResolvers<unknown>()
        const ended = traced('tool', { parent, tool: name, id: options.toolCallId, input }, async () => {
          made = execute(input, options)
          return await (comesBitByBit(made) ? last.promise : made)
        })
        called.add(ended)
        if (!comesBitByBit(made)) return ended
        ended.catch(() => undefined)
        return followed(made, last)
      }
      return [name, { ...one, execute: tracing } as typeof one]
    }),
  )
}

function comesBitByBit(made: unknown): made is AsyncIterable<unknown> {
  return typeof made === 'object' && made !== null && Symbol.asyncIterator in made
}

/** The same answers, the last of them told to whoever waits for the end. */
async function* followed(made: AsyncIterable<unknown>, end: PromiseWithResolvers<unknown>): AsyncGenerator {
  let last: unknown
  try {
    for await (last of made) yield last
  } catch (error) {
    end.reject(error)
    throw error
  } finally {
    end.resolve(last)
  }
}

/** The plan's own scope and no other: what a turn's tools act on. */
export function turnCaller(list: Punchlist, more: Partial<Caller>): Caller {
  return { ...callerOf(list), ...more }
}
