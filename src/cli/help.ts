import type { InputSchema } from '../core/operation.ts'
import { operationsOf, ROOM_NAMES } from '../operations.ts'
import { type Argument, argumentsOf, GLOBAL_FLAGS } from './arguments.ts'
import { COMMANDS } from './commands.ts'

/** Help for as many of the words as name a command; undefined when the first names none. */
export async function help(words: readonly string[]): Promise<string | undefined> {
  const [first, second] = words
  if (first === undefined) return await overview()
  const ops = await operationsOf(first)
  const op = ops.find(({ command }) => command === first || command === `${first} ${second}`)
  if (op) return page(op.command, op.summary, op.example, (op.form?.args ?? op.input)(), op.positional, 'follow' in op)
  if (ops.length > 0 && second === undefined) {
    return [
      `punchlist ${first}: ${ops.length} commands`,
      '',
      columns(ops.map(({ command, summary }) => [`  ${command}`, summary])),
      '',
      `Example: ${ops[0]!.example}`,
      `punchlist ${first} COMMAND --help tells more.`,
    ].join('\n')
  }
  const own = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined
  return own && page(first, own.summary, own.example, own.input(), own.positional)
}

async function overview(): Promise<string> {
  const groups = await Promise.all(ROOM_NAMES.map(name => operationsOf(name)))
  const rows = [
    ...groups.flat().map(({ command, summary }) => [`  ${command}`, summary]),
    ...Object.entries(COMMANDS).map(([name, { summary }]) => [`  ${name}`, summary]),
  ]
  return [
    'punchlist: durable work lists for AI agents',
    '',
    columns(rows),
    '',
    'Every command takes:',
    globals(),
    '',
    'Example: punchlist plan add "Write the parser" "Test the parser"',
    'punchlist COMMAND --help tells more; punchlist --version says which this is.',
  ].join('\n')
}

function page(
  command: string,
  summary: string,
  example: string,
  schema: InputSchema,
  positional: readonly string[] = [],
  follows = false,
): string {
  const known = argumentsOf(schema)
  const places = positional.map(field => known.find(one => one.field === field)!)
  const flags = known.filter(({ field, flag }) => !positional.includes(field) && !Object.hasOwn(GLOBAL_FLAGS, flag))
  const usage = ['punchlist', command, ...places.map(place), flags.length > 0 || follows ? '[OPTIONS]' : ''].filter(
    Boolean,
  )
  const own = [
    ...places.map(one => [`  ${place(one)}`, one.text]),
    ...flags.map(one => [`  --${one.flag}${value(one)}`, one.text]),
    ...(follows ? [['  --follow', 'go on until Ctrl-C; with --json one document a line']] : []),
  ]
  return [
    usage.join(' '),
    summary,
    ...(own.length > 0 ? ['', columns(own)] : []),
    '',
    'Every command takes:',
    globals(),
    '',
    `Example: ${example}`,
  ].join('\n')
}

function place(argument: Argument): string {
  const name = argument.field.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()
  const text = argument.type === 'list' ? `${name}…` : name
  return argument.required ? text : `[${text}]`
}

function value({ type, choices, field }: Argument): string {
  if (type === 'boolean') return ''
  return choices.length > 0
    ? ` ${choices.join('|')}`
    : ` ${field.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
}

function globals(): string {
  return columns(Object.entries(GLOBAL_FLAGS).map(([name, { text }]) => [`  --${name}`, text]))
}

function columns(rows: readonly (readonly string[])[]): string {
  const wide = Math.max(...rows.map(([left]) => left!.length))
  return rows.map(([left, right]) => `${left!.padEnd(wide)}  ${right}`.trimEnd()).join('\n')
}
