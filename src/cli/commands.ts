import * as v from 'valibot'
import { COMPLETION_MODES } from '../core/completion.ts'
import { described, duration, line, longDuration, wholeNumber } from '../core/input.ts'
import { nearest } from '../core/nearest.ts'
import type { InputSchema } from '../core/operation.ts'
import { checked } from '../core/operation.ts'
import { PROBLEMS, Problem } from '../core/problem.ts'
import { jsonText } from '../core/text.ts'
import { operationsOf, ROOM_NAMES } from '../operations.ts'
import { findWorkspace } from '../workspace.ts'
import { type GlobalFlags, readArguments } from './arguments.ts'
import type { Surroundings } from './main.ts'
import { askingFrom } from './scope.ts'
import { shown } from './show.ts'

/** A command that is the terminal's alone: it sets up, looks after or opens another door. */
export interface Command {
  readonly summary: string
  readonly example: string
  readonly input: () => InputSchema
  readonly positional?: readonly string[]
  run(fields: Record<string, unknown>, globals: GlobalFlags, around: Surroundings): Promise<number>
}

const description = v.description

export const COMMANDS: Readonly<Record<string, Command>> = {
  init: {
    summary: 'Set up a workspace here; with hosts, wire them: hooks, MCP server, skill.',
    example: 'punchlist init claude-code codex',
    input: () =>
      v.object({
        hosts: v.optional(
          v.pipe(v.array(v.string()), description('claude-code, opencode, codex, gemini, qwen, copilot, kimi, pi')),
        ),
        user: v.optional(v.pipe(v.boolean(), description("in the user's own configuration, for every folder"))),
        remove: v.optional(v.pipe(v.boolean(), description('take out what init wrote'))),
        yes: v.optional(v.pipe(v.boolean(), description('write without asking'))),
        dryRun: v.optional(v.pipe(v.boolean(), description('show what would be written'))),
      }),
    positional: ['hosts'],
    async run({ hosts, user, remove, yes, dryRun }, globals, around) {
      const { wish } = askingFrom(globals, around.env, around.cwd)
      const named = (hosts ?? []) as string[]
      const flags = { user: user === true, remove: remove === true, yes: yes === true, dryRun: dryRun === true }
      if (named.length > 0) {
        const { shownWiring, wire } = await import('./init-hosts.ts')
        const json = globals.json === true
        const answer = await wire({ hosts: named, json, ...flags }, wish, around)
        around.terminal.out(json ? jsonText(answer) : shownWiring(answer))
        return 0
      }
      const { initialise, refuseFlags } = await import('./init.ts')
      refuseFlags(flags)
      return await tell('init', globals, around, await initialise(wish))
    },
  },

  trust: {
    summary: 'Show what of this folder may run commands or connect, and accept it.',
    example: 'punchlist trust',
    input: () => v.object({ yes: v.optional(v.pipe(v.boolean(), description('accept everything that is shown'))) }),
    async run({ yes }, globals, around) {
      return await (await import('./trust.ts')).trust({ yes: yes === true }, globals, around)
    },
  },

  doctor: {
    summary: 'Check the workspace; --fix puts right what is safe to.',
    example: 'punchlist doctor --fix',
    input: () => v.object({ fix: v.optional(v.pipe(v.boolean(), description('put right what is safe to'))) }),
    async run({ fix }, globals, around) {
      const { examine } = await import('../doctor.ts')
      const workspace = await findWorkspace(askingFrom(globals, around.env, around.cwd).wish)
      const checks = await examine(workspace, { fix: fix === true })
      const wrong = checks.find(({ ok }) => !ok)
      await tell('doctor', globals, around, { ok: !wrong, checks })
      return wrong ? PROBLEMS[wrong.code ?? 'unreadable_file'].exit : 0
    },
  },

  hook: {
    summary: 'Called by hosts, with an event on standard input: keeps a session going while its plan is open.',
    example: 'punchlist hook claude-code',
    input: () => v.object({ host: v.pipe(v.string(), description('claude-code, codex, gemini, …, or auto')) }),
    positional: ['host'],
    async run({ host }, _, { env, cwd, terminal }) {
      const { hook } = await import('./hook.ts')
      const { stdout, stderr, exit = 0 } = await hook(String(host), env, cwd)
      if (stdout !== undefined) terminal.out(stdout)
      if (stderr !== undefined) terminal.err(stderr)
      return exit
    },
  },

  mcp: {
    summary: 'Serve the tools to a model over MCP: on stdio, or with --http on 127.0.0.1.',
    example: 'punchlist mcp --tools plan',
    input: () =>
      v.object({
        tools: v.optional(v.pipe(v.string(), description('tool sets to offer, with commas; plan if absent'))),
        http: v.optional(v.pipe(v.boolean(), description('serve over HTTP instead of stdio'))),
        port: v.optional(v.pipe(wholeNumber(0, 65_535), description('any free one if absent'))),
      }),
    async run(fields, globals, around) {
      const { serve } = await import('./serve.ts')
      return await serve(fields, globals, around)
    },
  },

  run: {
    summary: 'Drain the queue with agents: claim, start, watch, run the wards, complete or fail, and go on.',
    example: 'punchlist run --workers 3 --agent claude-code',
    input: () =>
      v.object({
        command: v.optional(
          v.pipe(v.array(v.string()), description('after --: the agent, or more arguments for the named one')),
        ),
        agent: v.optional(v.pipe(v.string(), description('claude-code, codex, opencode, gemini or punchlist'))),
        workers: v.optional(v.pipe(wholeNumber(1, 64), description('how many at a time; 1 if absent'))),
        worktree: v.optional(v.pipe(v.boolean(), description('each task in a git worktree of its own'))),
        once: v.optional(v.pipe(v.boolean(), description('each worker takes one task at most'))),
        watch: v.optional(v.pipe(v.boolean(), description('wait for more work when there is none'))),
        maxAttempts: v.optional(v.pipe(wholeNumber(1, 100), description('before a task has failed; 3 if absent'))),
        timeout: v.optional(v.pipe(longDuration(), description('how long an attempt at a task may take'))),
        budget: v.optional(
          v.pipe(
            v.number(),
            v.minValue(0, 'must be 0 or more'),
            description('US dollars for a task, where the agent tells'),
          ),
        ),
        lease: v.optional(v.pipe(longDuration(), description('how long a claim holds unless renewed; 15m if absent'))),
        name: v.optional(
          v.pipe(
            v.string(),
            v.regex(/^[A-Za-z0-9][\w-]{0,59}$/, 'must be letters, digits, - and _'),
            description('what the workers are called after'),
          ),
        ),
        pr: v.optional(v.pipe(v.boolean(), description('end with the section for the pull request'))),
        report: v.optional(
          v.pipe(v.boolean(), description('instead: tell what the last run did, or the one that is named')),
        ),
      }),
    positional: ['command'],
    async run(fields, globals, around) {
      if (fields['report'] === true) {
        const { runReport } = await import('./run-report.ts')
        return await runReport((fields['command'] as string[] | undefined)?.[0], globals, around)
      }
      const { run } = await import('./run.ts')
      return await run(fields, globals, around)
    },
  },

  agent: {
    summary: 'Have a model do something here: it plans, works its plan off, and only then answers.',
    example: 'punchlist agent "Find out why the build fails" --model openai/gpt-5 --allow npm',
    input: () =>
      v.object({
        prompt: v.optional(v.pipe(v.array(v.string()), description('what to do; - for standard input'))),
        model: described(v.string(), 'PROVIDER/NAME, PUNCHLIST_MODEL if absent; see docs/agent.md'),
        system: described(v.string(), 'a file with further instructions'),
        write: described(v.boolean(), 'let it write files in the working directory'),
        allow: described(v.array(line(1000)), 'a program that it may run; may be given several times'),
        tools: described(v.string(), 'tool sets it has, with commas; plan if absent'),
        maxCalls: described(wholeNumber(1, 1000), 'calls of the model at most; 50 if absent'),
        completion: described(v.picklist(COMPLETION_MODES), 'how completions are believed, as with plan turn'),
        check: described(v.string(), 'command that must exit 0 for an item to count as done, run without a shell'),
        timeout: described(duration(), 'how long it may take in all'),
        quiet: described(v.boolean(), 'no word of how it goes'),
      }),
    positional: ['prompt'],
    async run(fields, globals, around) {
      const { agent } = await import('./agent.ts')
      return await agent(fields, globals, around)
    },
  },

  export: {
    summary: 'Write everything that is stored here as one JSON document, for import into any engine.',
    example: 'punchlist export --to backup.json',
    input: () => v.object({ to: v.optional(v.pipe(v.string(), description('a file; standard output if absent'))) }),
    async run({ to }, globals, around) {
      const { exportTo } = await import('./transfer.ts')
      return await exportTo(to, globals, around)
    },
  },

  import: {
    summary: 'Take in what export wrote, or the tasks that Claude Code kept; what is there already is passed over.',
    example: 'punchlist import backup.json --store sqlite:other.db',
    input: () =>
      v.object({
        file: v.pipe(v.string(), description('a file, - for standard input, or a folder such as ~/.claude/tasks')),
      }),
    positional: ['file'],
    async run({ file }, globals, around) {
      const { importFrom } = await import('./transfer.ts')
      return await importFrom(String(file), globals, around)
    },
  },

  demo: {
    summary: 'Play a day of two scripted agents in a temporary folder, and show what happens.',
    example: 'punchlist demo',
    input: () =>
      v.object({
        agent: v.optional(
          v.pipe(v.boolean(), description('instead: be one of its agents, as punchlist run starts them')),
        ),
      }),
    async run({ agent }, _, around) {
      if (agent === true) return await (await import('./demo-agent.ts')).demoAgent(around)
      return await (await import('./demo.ts')).demo(around)
    },
  },
}

/** Runs a command of the terminal's own, or says what was probably meant. */
export async function command(
  words: readonly string[],
  argv: readonly string[],
  around: Surroundings,
): Promise<number> {
  const name = words[0]!
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!found) throw await unknown(words)
  const { fields, globals } = readArguments(argv, found)
  return await found.run(checked(found.input(), fields), globals, around)
}

export async function helpFor(
  words: readonly string[],
  argv: readonly string[],
  around: Surroundings,
): Promise<number> {
  if (argv.includes('--version')) return await version(around)
  const { help } = await import('./help.ts')
  const text = await help(words)
  if (text === undefined) throw await unknown(words)
  around.terminal.out(text)
  return 0
}

/** From the package's own file, which lies above this one however it was built. */
export async function programVersion(): Promise<string> {
  const { existsSync, readFileSync } = await import('node:fs')
  let file = new URL('package.json', import.meta.url)
  while (!existsSync(file)) file = new URL('../package.json', file)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

async function version(around: Surroundings): Promise<number> {
  around.terminal.out(await programVersion())
  return 0
}

async function tell(name: string, globals: GlobalFlags, around: Surroundings, answer: unknown): Promise<number> {
  const { terminal } = around
  terminal.out(globals.json ? jsonText(answer) : shown(name, answer, terminal))
  return 0
}

async function unknown(words: readonly string[]): Promise<Problem> {
  const known = [...ROOM_NAMES, ...Object.keys(COMMANDS)]
  const verbs = (await operationsOf(words[0]!)).map(({ command: path }) => path)
  const typed = words.slice(0, verbs.length > 0 ? 2 : 1).join(' ')
  const close = nearest(typed, verbs.length > 0 ? verbs : known)
  const list = verbs.length > 0 ? verbs.map(path => path.split(' ')[1]) : known
  return new Problem(
    'bad_input',
    `There is no command "${typed.slice(0, 60)}"`,
    close ? `Did you mean: punchlist ${close}` : `Use one of: ${list.join(', ')}. See punchlist --help.`,
    { typed: typed.slice(0, 60), ...(close ? { nearest: close } : {}) },
  )
}
