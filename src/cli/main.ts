import { carryOut as answerOf, checked, type Operation, writesWith } from '../core/operation.ts'
import { PROBLEMS, Problem } from '../core/problem.ts'
import { harmless, harmlessLine, jsonText } from '../core/text.ts'
import { StoreDoor } from '../open.ts'
import { operationsFor } from '../operations.ts'
import { findWorkspace } from '../workspace.ts'
import { leadingWords, readArguments } from './arguments.ts'
import { askingFrom, callerFor } from './scope.ts'
import { shown } from './show.ts'
import type { Terminal } from './terminal.ts'

/** What surrounds a command: handed in, so that a test can surround it with something else. */
export interface Surroundings {
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Runs one command and returns the exit status. People get aligned text, programs that ask for it get JSON. */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  const json = asks(argv, '--json')
  try {
    return await dispatch(argv, around, json)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    around.terminal.err(json ? jsonText(error) : harmless(`${error.message}\n${error.hint}`))
    return PROBLEMS[error.code].exit
  }
}

async function dispatch(argv: readonly string[], around: Surroundings, json: boolean): Promise<number> {
  const { words, rest } = leadingWords(argv)
  const named = around.env['PUNCHLIST_TRUST']
  if (named && words[0] !== 'trust') await acceptBefore(argv, named, around)
  const ops = await operationsFor(words)
  const op = ops.find(({ command }) => command.split(' ').every((word, index) => word === words[index]))
  const wantsHelp = asks(argv, '--help') || asks(argv, '-h')
  if (op && !wantsHelp) return await carryOut(op, rest(op.command.split(' ').length), around, json)
  const { command, helpFor } = await import('./commands.ts')
  if (words[0] === 'help') return await helpFor(words.slice(1), argv, around)
  const unfinished = words.length === 0 || (ops.length > 0 && words.length === 1)
  return wantsHelp || unfinished ? await helpFor(words, argv, around) : await command(words, rest(1), around)
}

/** PUNCHLIST_TRUST accepts the set of items that it names, as `punchlist trust --yes` would; an agent of a run accepts nothing. */
async function acceptBefore(argv: readonly string[], named: string, { env, cwd }: Surroundings): Promise<void> {
  const { authorityBelow, RUN_MARK } = await import('../core/lineage.ts')
  if (authorityBelow('person', env[RUN_MARK]).who !== 'person') return
  const root = argv.find((_, index) => argv[index - 1] === '--root')
  const { acceptNamed } = await import('../trust-items.ts')
  await acceptNamed(askingFrom(root === undefined ? {} : { root }, env, cwd).wish, named)
}

async function carryOut(op: Operation, argv: readonly string[], around: Surroundings, json: boolean): Promise<number> {
  const { terminal } = around
  const { fields, globals, follow } = readArguments(argv, op)
  const asking = askingFrom(globals, around.env, around.cwd)
  const given = op.form ? await op.form.input(checked(op.form.args(), fields), file => terminal.read(file)) : fields
  const wanted = json || !op.brief ? given : { ...op.brief, ...(given as object) }
  // Before anything is opened, or made: bad input leaves no trace.
  const input = checked(op.input(), wanted)
  const workspace = await findWorkspace(asking.wish)
  // Whoever follows must see what comes, so there must be something to watch.
  const writes = follow || writesWith(op, input)
  const ask = terminal.interactive && !json ? (await import('./trust.ts')).askerFor(workspace, terminal) : undefined
  const door = new StoreDoor(workspace, {}, ask)
  try {
    const caller = callerFor(asking, workspace, door, writes)
    const tell = async (answer: unknown) => {
      if (op.document && !json) terminal.print(String((answer as Record<string, unknown>)[op.document]))
      else terminal.out(json ? jsonText(answer) : (await showing(op)).shown(op.name, answer, terminal))
      warn(answer, terminal)
      for (const text of door.warnings(op.name === 'status')) terminal.err(harmlessLine(`warning: ${text}`))
    }
    if (op.name === 'backlog_triage' && !json && terminal.interactive && !writes) {
      return await (await import('./triage.ts')).triageTogether(caller, input, terminal)
    }
    if (follow && op.follow) {
      for await (const answer of op.follow(caller, input, terminal.interrupted)) await tell(answer)
    } else {
      await tell(await answerOf(op, caller, input))
    }
    return 0
  } finally {
    await door.close()
  }
}

async function showing(op: Operation): Promise<Pick<typeof import('./show.ts'), 'shown'>> {
  if (op.tools === 'backlog') return await import('./show-backlog.ts')
  if (op.tools === 'worklog') return await import('./show-worklog.ts')
  return op.tools === 'queue' ? await import('./show-queue.ts') : { shown }
}

/** Files that could not be read are also told where nobody parses what is printed. */
function warn(answer: unknown, terminal: Terminal): void {
  const { warnings = [] } = answer as { warnings?: { file: string; line: number; message: string }[] }
  for (const { file, line, message } of warnings) terminal.err(harmlessLine(`warning: ${file}:${line} ${message}`))
}

/** Whether a flag was typed, and not as a word after `--`. */
function asks(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag)
}
