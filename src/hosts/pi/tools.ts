import { toJsonSchema } from '@valibot/to-json-schema'
import { closedSchema } from '../../core/closed-schema.ts'
import { checked, type Operation } from '../../core/operation.ts'
import { Problem } from '../../core/problem.ts'
import { blockTodo, completeTodo, createTodo, listTodo, startTodo } from '../../plans/operations.ts'
import type { Ran } from '../program.ts'

/** A tool as pi registers it; its schemas are JSON schemas. */
export interface Tool {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly parameters: unknown
  readonly promptSnippet: string
  execute(id: string, params: unknown, signal: AbortSignal | undefined, update: unknown, ctx: unknown): Promise<Result>
}

interface Result {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly details: undefined
}

const OFFERED = [createTodo, listTodo, startTodo, completeTodo, blockTodo] as unknown as readonly Operation[]

/** Runs a command of ours in the session of `ctx`. */
export type Run = (args: readonly string[], input: string, ctx: unknown, signal?: AbortSignal) => Promise<Ran>

/** The plan's tools: pi has no MCP, so each is a command of ours. What a model may send is the same as there. */
export function planTools(run: Run): Tool[] {
  return OFFERED.map(op => {
    const accepts = (op.toolInput ?? op.input)()
    const { $schema: _, ...parameters } = toJsonSchema(accepts, { errorMode: 'ignore' })
    return {
      name: op.name,
      label: op.command,
      description: op.summary,
      promptSnippet: op.summary,
      parameters: closedSchema(parameters),
      async execute(_id, params, signal, _update, ctx) {
        const { args, input } = commandFor(
          op,
          accepted(() => checked(accepts, params)),
        )
        const { exit, stdout, stderr } = await run(['--json', ...args], input, ctx, signal)
        if (exit !== 0) throw new Error(refusalFrom(stderr))
        return { content: [{ type: 'text', text: stdout.trim() }], details: undefined }
      },
    }
  })
}

type Fields = Readonly<Record<string, unknown>>

/** pi shows a model what is thrown, and a problem without its hint is half of it. */
function accepted(check: () => unknown): Fields {
  try {
    return check() as Fields
  } catch (error) {
    throw error instanceof Problem ? new Error(told(error), { cause: error }) : error
  }
}

function commandFor(op: Operation, fields: Fields): { args: string[]; input: string } {
  const words = op.command.split(' ')
  if (op.form) return { args: [...words, '--items', '-'], input: JSON.stringify(fields) }
  const places = op.positional ?? []
  const flags = Object.entries(fields)
    .filter(([field, value]) => !places.includes(field) && value !== undefined)
    .map(([field, value]) => `--${field.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}=${String(value)}`)
  const given = places.map(field => fields[field]).filter(value => value !== undefined)
  return { args: [...words, ...flags, '--', ...given.map(String)], input: '' }
}

function refusalFrom(stderr: string): string {
  try {
    return told((JSON.parse(stderr) as { error: Problem }).error)
  } catch {
    return `punchlist could not be run: ${stderr.trim().slice(0, 500)}`
  }
}

function told({ code, message, hint }: Pick<Problem, 'code' | 'message' | 'hint'>): string {
  return `${code}: ${message}\n${hint}`
}
