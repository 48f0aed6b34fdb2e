import * as v from 'valibot'
import { nearest } from '../core/nearest.ts'
import type { InputSchema } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'

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
  readonly input: () => InputSchema
  readonly form?: { readonly args: () => InputSchema }
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
  const known = argumentsOf((command.form?.args ?? command.input)())
  const flags = known.filter(({ field }) => !positional.includes(field))
  const options = new Map<string, Argument['type']>([
    ...Object.entries(GLOBAL_FLAGS).map(([name, { type }]) => [name, type] as const),
    ...flags.map(({ flag, type }) => [flag, type] as const),
    ...(command.follow ? [['follow', 'boolean'] as const] : []),
  ])
  const { values, positionals } = split(argv, options)
  const fields: Record<string, unknown> = {}
  for (const { flag, field } of flags) {
    if (values.has(flag)) fields[field] = values.get(flag)
  }
  positional.forEach((field, index) => {
    const argument = known.find(one => one.field === field)!
    const given = argument.type === 'list' ? positionals.slice(index) : positionals[index]
    if (given !== undefined && given.length > 0)
      fields[field] = argument.type === 'number' ? numeric(String(given)) : given
    // An empty word is kept: the schema says what is wrong with it.
    if (given === '') fields[field] = ''
  })
  const takesRest = known.find(one => one.field === positional.at(-1))?.type === 'list'
  if (!takesRest && positionals.length > positional.length) {
    const extra = positionals.slice(positional.length)
    throw new Problem(
      'bad_input',
      `Unexpected: ${extra.join(' ')}`,
      positional.length > 0 ? 'Put text of several words in quotes; see --help.' : 'It takes no such word; see --help.',
      { extra },
    )
  }
  const globals: GlobalFlags = Object.fromEntries([...values].filter(([name]) => Object.hasOwn(GLOBAL_FLAGS, name)))
  return { fields, globals, follow: values.has('follow') }
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

type Values = Map<string, string | number | boolean | (string | number | boolean)[]>

/** Node's own parser would do, but loading it costs a start more than everything else here. */
function split(
  argv: readonly string[],
  options: ReadonlyMap<string, Argument['type']>,
): { values: Values; positionals: string[] } {
  const values: Values = new Map()
  const positionals: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!
    if (word === '--') {
      positionals.push(...argv.slice(i + 1))
      break
    }
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word)
      continue
    }
    const [, name = '', inline] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? []
    const type = options.get(name)
    if (type === undefined) throw unknownFlag(word, [...options.keys()])
    if (type === 'boolean') {
      if (inline !== undefined)
        throw new Problem('bad_input', `--${name} takes no value`, `Write --${name} alone.`, { option: name })
      values.set(name, true)
      continue
    }
    const given = inline ?? argv[++i]
    if (given === undefined || (inline === undefined && given.startsWith('--'))) {
      const hint = `Write --${name} VALUE, or --${name}=VALUE for a value that begins with two dashes.`
      throw new Problem('bad_input', `--${name} needs a value`, hint, { option: name })
    }
    const value = type === 'number' ? numeric(given) : given
    const before = values.get(name)
    values.set(name, type === 'list' ? [...(Array.isArray(before) ? before : []), value] : value)
  }
  return { values, positionals }
}

function unknownFlag(word: string, known: readonly string[]): Problem {
  const flag = word.split('=')[0]!
  const close = nearest(flag.replace(/^-+/, ''), known)
  const hint = close ? `Did you mean --${close}?` : 'See --help; words after -- are taken as they are.'
  return new Problem('bad_input', `There is no option ${flag.slice(0, 60)}`, hint, { option: flag.slice(0, 60) })
}

/** A number where one was typed; anything else is left for the schema to complain about. */
function numeric(value: string): string | number {
  return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
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
