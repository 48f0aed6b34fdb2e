import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import * as v from 'valibot'
import type { InputSchema } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { nearest } from './nearest.ts'

/** What every command takes. Values also come from the environment: PUNCHLIST_ROOT, PUNCHLIST_STORE and so on. */
export const GLOBAL_FLAGS = {
  json: { type: 'boolean', text: 'one JSON document instead of text' },
  root: { type: 'string', text: 'the workspace folder' },
  store: { type: 'string', text: 'files, sqlite:PATH or postgres://…' },
  actor: { type: 'string', text: 'who is acting' },
  conversation: { type: 'string', text: 'the conversation (the session, if absent)' },
  session: { type: 'string', text: 'the session' },
  turn: { type: 'string', text: 'the turn (the one that is open, if absent)' },
  help: { type: 'boolean', text: 'show help' },
} as const

export type GlobalFlags = { -readonly [name in keyof typeof GLOBAL_FLAGS]?: string | boolean }

/** One argument of a command, as its schema describes it. */
export interface Argument {
  readonly field: string
  /** `--agent-type` for `agentType`. */
  readonly flag: string
  readonly type: 'string' | 'number' | 'boolean' | 'list'
  readonly required: boolean
  readonly text: string
  readonly choices: readonly string[]
}

export function argumentsOf(schema: InputSchema): Argument[] {
  return Object.entries(schema.entries).map(([field, entry]) => {
    const inner = unwrapped(entry)
    return {
      field,
      flag: field.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`),
      type: typeOf(inner.type),
      required: entry.type !== 'optional',
      text: v.getDescription(inner as v.GenericSchema) ?? '',
      choices: inner.type === 'picklist' ? (inner as unknown as { options: string[] }).options : [],
    }
  })
}

/** What reading arguments needs to know of a command. */
export interface Readable {
  readonly input: InputSchema
  readonly form?: { readonly args: InputSchema }
  readonly positional?: readonly string[]
  readonly follow?: unknown
}

export interface Typed {
  readonly fields: Record<string, unknown>
  readonly globals: GlobalFlags
  readonly follow: boolean
}

/** Splits what was typed after a command into its own arguments and the global flags; refuses what it does not know. */
export function readArguments(argv: readonly string[], command: Readable): Typed {
  const { positional = [] } = command
  const known = argumentsOf(command.form?.args ?? command.input)
  const flags = known.filter(({ field }) => !positional.includes(field))
  const options: ParseArgsOptionsConfig = Object.fromEntries([
    ...flags.map(({ flag, type }) => [
      flag,
      { type: type === 'boolean' ? 'boolean' : 'string', multiple: type === 'list' },
    ]),
    ...Object.entries(GLOBAL_FLAGS).map(([name, { type }]) => [name, { type }]),
    ...(command.follow ? [['follow', { type: 'boolean' }]] : []),
  ])
  const { values, positionals } = parsed(argv, options)
  const fields: Record<string, unknown> = {}
  for (const { flag, field, type } of flags) {
    if (values[flag] !== undefined) fields[field] = type === 'number' ? numeric(values[flag]) : values[flag]
  }
  positional.forEach((field, index) => {
    const argument = known.find(one => one.field === field)!
    const given = argument.type === 'list' ? positionals.slice(index) : positionals[index]
    if (given !== undefined && given.length > 0) fields[field] = given
    // An empty word is kept: the schema says what is wrong with it.
    if (given === '') fields[field] = ''
  })
  const takesRest = known.find(one => one.field === positional.at(-1))?.type === 'list'
  if (!takesRest && positionals.length > positional.length) {
    const extra = positionals.slice(positional.length)
    throw new Problem(
      'bad_input',
      `Unexpected: ${extra.join(' ')}`,
      'Put text of several words in quotes; see --help.',
      { extra },
    )
  }
  const globals = Object.fromEntries(Object.keys(GLOBAL_FLAGS).map(name => [name, values[name]]))
  return { fields, globals, follow: values['follow'] === true }
}

/** The words before the first option, and where each stands: which command is meant. */
export function leadingWords(argv: readonly string[]): { words: string[]; rest: (count: number) => string[] } {
  const places: number[] = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!
    if (!word.startsWith('-')) places.push(i)
    else if (word === '--') break
    else if (takesValue(word)) i++
  }
  return {
    words: places.map(place => argv[place]!),
    rest: count => argv.filter((_, index) => !places.slice(0, count).includes(index)),
  }
}

function takesValue(word: string): boolean {
  const name = word.slice(2)
  return Object.hasOwn(GLOBAL_FLAGS, name) && GLOBAL_FLAGS[name as keyof typeof GLOBAL_FLAGS].type === 'string'
}

function parsed(argv: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (!code?.startsWith('ERR_PARSE_ARGS')) throw error
    const unknown = /Unknown option '(-[^']*)'/.exec(message)?.[1]
    const fact = message.split('. ')[0]!
    const close = unknown && nearest(unknown.replace(/^-+/, ''), Object.keys(options))
    const hint = close
      ? `Did you mean --${close}?`
      : 'See --help; a value that begins with a dash is written --flag=-value.'
    throw new Problem('bad_input', fact, hint, unknown ? { option: unknown } : {})
  }
}

/** A number where one was typed; anything else is left for the schema to complain about. */
function numeric(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
}

interface Wrapped {
  readonly type: string
  readonly wrapped?: Wrapped
}

function unwrapped(entry: Wrapped): Wrapped {
  return entry.wrapped ? unwrapped(entry.wrapped) : entry
}

function typeOf(type: string): Argument['type'] {
  if (type === 'number' || type === 'boolean') return type
  return type === 'array' ? 'list' : 'string'
}
