import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { closedSchema } from './core/closed-schema.ts'
import { type Caller, carryOut, checked, type Operation } from './core/operation.ts'
import { Problem } from './core/problem.ts'
import { allWithoutInvisible, withoutInvisible } from './core/text.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/** The schema of an object, in the form that the SDKs ask for; unlike an interface, it is also a plain record. */
export type ObjectSchema = {
  type: 'object'
  properties: Record<string, Record<string, unknown>>
  required: string[]
  additionalProperties: false
}

/** An operation as a model is told of it. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: JsonSchema
}

export function definitionOf(op: Operation): Definition {
  return {
    name: op.name,
    description: op.summary,
    inputSchema: closedSchema(published((op.toolInput ?? op.input)())) as ObjectSchema,
    outputSchema: shortened(published(op.output())) as JsonSchema,
  }
}

/** A refusal as a model is told of it. */
export function told({ code, message, hint, details }: Problem): string {
  const more = Object.keys(details).length > 0 ? `\n${JSON.stringify(details)}` : ''
  return withoutInvisible(`${code}: ${message}\n${hint}${more}`)
}

function published(schema: GenericSchema): JsonSchema {
  // Without $schema, which is the default everywhere: every character here is in the model's context.
  const { $schema: _, ...json } = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' }) as JsonSchema
  return json
}

/** So many fields are spelt out; of an object with more, only their names are told. */
const SPELT_OUT = 15

/** Large objects are in nearly every answer of a tool set: spelt out in each, they would be most of what a model reads. */
function shortened(schema: unknown, nested = false): unknown {
  if (Array.isArray(schema)) return schema.map(one => shortened(one, nested))
  if (typeof schema !== 'object' || schema === null) return schema
  const { properties } = schema as { properties?: JsonSchema }
  const names = Object.keys(properties ?? {})
  if (names.length > SPELT_OUT) return { type: 'object', description: names.join(', ') }
  // Of an object within the answer, the fields are told and not which of them are always there: they all are.
  const kept = Object.entries(schema).filter(([key]) => !(nested && key === 'required' && properties))
  return Object.fromEntries(kept.map(([key, value]) => [key, shortened(value, nested || key === 'properties')]))
}

/** An operation for the tool calls of any SDK. */
export interface Tool extends Definition {
  /** Carries it out. Refusals are thrown, as a `Problem`. */
  readonly execute: (input: unknown) => Promise<Readonly<Record<string, unknown>>>
  /** The same for a model: the answer as text, and refusals are answers too. Takes arguments as the text they come in. */
  readonly answer: (input: unknown) => Promise<Answer>
}

export interface Answer {
  readonly text: string
  /** Whether it is a refusal, which says what to do instead. */
  readonly refused: boolean
}

/** Does one piece of work after the other, in the order in which they came. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export function oneAfterTheOther(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }
}

export function toolOf(op: Operation, caller: Caller, inTurn: InTurn): Tool {
  const definition = definitionOf(op)
  const execute = async (sent: unknown) => {
    const input = checked((op.toolInput ?? op.input)(), withoutNulls(definition.inputSchema, sent))
    return allWithoutInvisible((await inTurn(() => carryOut(op, caller, input))) as Readonly<Record<string, unknown>>)
  }
  const answer = async (sent: unknown) => {
    try {
      return {
        text: JSON.stringify(await execute((typeof sent === 'string' ? parsed(sent) : sent) ?? {})),
        refused: false,
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return { text: told(error), refused: true }
    }
  }
  return { ...definition, execute, answer }
}

/** Where a provider makes every field mandatory, as OpenAI does in its strict mode, null is how a model leaves one out. */
function withoutNulls(schema: JsonSchema, sent: unknown): unknown {
  const { properties = {}, required = [], items } = schema as Partial<ObjectSchema> & { items?: JsonSchema }
  if (Array.isArray(sent)) return items ? sent.map(one => withoutNulls(items, one)) : sent
  if (typeof sent !== 'object' || sent === null) return sent
  const optional = (key: string) => Object.hasOwn(properties, key) && !required.includes(key)
  const given = Object.entries(sent).filter(([key, value]) => value !== null || !optional(key))
  return Object.fromEntries(given.map(([key, value]) => [key, withoutNulls(properties[key] ?? {}, value)]))
}

function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch (error) {
    const { message } = error as SyntaxError
    throw new Problem('bad_input', `The arguments are no JSON: ${message}`, 'Send them again as one JSON object.')
  }
}
