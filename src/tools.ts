import { asModel } from './core/authority.ts'
import { Problem } from './core/problem.ts'
import { harmlessLine } from './core/text.ts'
import { callerOf, type Punchlist } from './library.ts'
import { toolsOf } from './operations.ts'
import { type Answer, oneAfterTheOther, type Tool, told, toolOf } from './tooling.ts'

export type { Answer, Definition, JsonSchema, ObjectSchema, Tool } from './tooling.ts'

/** What models are offered together. */
export const TOOL_SETS = ['plan', 'backlog', 'queue', 'worklog'] as const
export type ToolSetName = (typeof TOOL_SETS)[number]

/**
 * The tools of some sets, on behalf of whoever opened the workspace, in the turn
 * that `list.as(…)` says: a scope that a model sends is refused. Calls are
 * carried out one after the other, however many a model makes at once.
 */
export async function toolsFor(list: Punchlist, sets: readonly ToolSetName[] = ['plan']): Promise<Tool[]> {
  const unknown = sets.filter(name => !TOOL_SETS.includes(name))
  if (unknown.length > 0) {
    const hint = `There are: ${TOOL_SETS.join(', ')}.`
    throw new Problem('bad_input', `There is no tool set ${unknown.join(', ')}`, hint, { sets: unknown })
  }
  const offered = await Promise.all(sets.map(toolsOf))
  const inTurn = oneAfterTheOther()
  const caller = callerOf(list)
  return offered.flat().map(op => toolOf(op, op.tools === 'plan' ? asModel(caller) : caller, inTurn))
}

/** Answers a call that a model makes by name, for whoever writes the loop: a tool that is not there is refused too. */
export async function answerCall(tools: readonly Tool[], name: string, input: unknown): Promise<Answer> {
  const called = tools.find(tool => tool.name === name)
  if (called) return await called.answer(input)
  const hint = `Call one of: ${tools.map(tool => tool.name).join(', ')}.`
  return { text: told(new Problem('not_found', `There is no tool ${harmlessLine(name)}`, hint)), refused: true }
}
