import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '../../src/cli/commands.ts'
import { words } from '../../src/core/words.ts'
import { HOST_NAMES, hostNamed } from '../../src/hosts/hosts.ts'
import { operationsOf, ROOM_NAMES, toolsOf } from '../../src/operations.ts'

/** One command as a user types it, with what it may do because it was typed. */
export interface Typed {
  readonly name: string
  readonly argv: readonly string[]
  /** Standard input; `FOLDER` in it stands for the working directory. */
  readonly input?: string
  /** Programs that these words ask for. */
  readonly starts?: readonly string[]
  /** It starts programs, or asks git: with a trap that counts on that it is tried in every kind of folder. */
  readonly thorough?: true
}

/** Every command there is, from the registries: one that is added later is here as well. */
export async function everyCommand(): Promise<readonly Typed[]> {
  const operations = (await Promise.all(ROOM_NAMES.map(operationsOf))).flat()
  const named = Object.entries(COMMANDS).flatMap(([name, { example }]) => TYPED[name] ?? [fromExample(name, example)])
  return [
    ...operations.flatMap(({ command, example }) => TYPED[command] ?? [fromExample(command, example)]),
    ...named,
    ...(await hooks()),
    { name: 'mcp', argv: ['mcp', '--tools', 'plan,backlog,queue,worklog'], input: await conversationOverMcp() },
  ]
}

/** Commands that are not part of the matrix, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  demo: 'plays in a temporary folder of its own, and takes seconds',
}

/** Where an example does not fit: it names hosts that are not installed, waits, or says yes. */
const TYPED: Readonly<Record<string, readonly Typed[]>> = {
  demo: [],
  hook: [],
  mcp: [],
  run: [
    { name: 'run -- true', argv: ['run', '--once', '--', 'true'], starts: ['sh', 'true'], thorough: true },
    {
      name: 'run --agent claude-code',
      argv: ['run', '--once', '--max-attempts', '1', '--agent', 'claude-code'],
      starts: ['sh', 'claude'],
    },
    { name: 'run (agent from the settings)', argv: ['run', '--once'], starts: ['sh'] },
    {
      name: 'run --worktree -- true',
      argv: ['run', '--once', '--worktree', '--', 'true'],
      starts: ['sh', 'true'],
      thorough: true,
    },
    { name: 'run --report', argv: ['run', '--report'] },
  ],
  agent: [{ name: 'agent', argv: ['agent', 'Say hello', '--conversation', 'hostile', '--quiet'] }],
  init: [
    { name: 'init', argv: ['init'] },
    { name: 'init claude-code', argv: ['init', 'claude-code', '--yes'], starts: ['claude'] },
    { name: 'init --remove', argv: ['init', 'claude-code', '--remove', '--yes'], starts: ['claude'] },
  ],
  doctor: [
    { name: 'doctor', argv: ['doctor'], thorough: true },
    { name: 'doctor --fix', argv: ['doctor', '--fix'] },
  ],
  import: [{ name: 'import', argv: ['import', '-'], input: '{"format":"punchlist-export","version":1}' }],
  'backlog triage': [{ name: 'backlog triage', argv: ['backlog', 'triage'] }],
  'worklog pr': [{ name: 'worklog pr', argv: ['worklog', 'pr'] }],
}

/** The ids of the examples, and those that lie in the prepared folders. */
const STAND_INS: readonly (readonly [RegExp, string])[] = [
  [/req_\d+/g, 'req_0001'],
  [/\bwork\/003\b/g, 'review/002'],
]

/** Follows for ever, or accepts: neither is a question that the matrix asks. */
const DROPPED = new Set(['--follow', '--yes', '--accept'])

function fromExample(name: string, example: string): Typed {
  const text = STAND_INS.reduce((line, [id, standIn]) => line.replace(id, standIn), example)
  const argv = (words(text) ?? []).slice(1).filter(word => !DROPPED.has(word))
  return { name, argv }
}

/** Each host's hook, with what the host says when it stops and when its list changes. */
async function hooks(): Promise<Typed[]> {
  const all: Typed[] = [{ name: 'hook auto', argv: ['hook', 'auto'], input: JSON.stringify(CLAUDE[0]) }]
  for (const name of HOST_NAMES) {
    const host = (await hostNamed(name))!
    const payloads = [...recorded(name), ...CLAUDE, ...PLUGIN]
    // Where a host has no list of its own, what its user says is what makes the hook write.
    for (const types of [['stopping'], ['listed', 'spoke']]) {
      const meaning = (type: string) => payloads.find(one => host.read(one)?.event.type === type)
      const type = types.find(meaning)
      if (!type) throw new Error(`no event of ${name} means ${types.join(' or ')}: record one in test/hosts/recorded`)
      all.push({ name: `hook ${name} (${type})`, argv: ['hook', name], input: JSON.stringify(meaning(type)) })
    }
  }
  return all.map(one => ({ ...one, input: one.input!.replaceAll('/home/ada/project', 'FOLDER') }))
}

type Payload = Readonly<Record<string, unknown>>

function recorded(host: string): Payload[] {
  try {
    return JSON.parse(readFileSync(join(import.meta.dirname, '../hosts/recorded', `${host}.json`), 'utf8')) as Payload[]
  } catch {
    return []
  }
}

const SESSION = { session_id: 'hostile', cwd: 'FOLDER', transcript_path: '/nowhere' }
const CLAUDE: readonly Payload[] = [
  { ...SESSION, hook_event_name: 'Stop' },
  {
    ...SESSION,
    hook_event_name: 'PostToolUse',
    tool_name: 'TodoWrite',
    tool_input: { todos: [{ content: 'One', status: 'pending', activeForm: 'One' }] },
    tool_response: {},
  },
]
const PLUGIN: readonly Payload[] = [
  { session: 'hostile', cwd: 'FOLDER', event: { type: 'stopping' } },
  {
    session: 'hostile',
    cwd: 'FOLDER',
    event: { type: 'listed', tasks: [{ key: '1', title: 'One', status: 'pending' }] },
  },
]

/** A client that looks around, reads every list and adds to the plan. */
async function conversationOverMcp(): Promise<string> {
  const tools = (await Promise.all(ROOM_NAMES.map(toolsOf))).flat()
  const reads = tools.filter(({ name, readOnly }) => readOnly === true && /list/.test(name))
  const calls = [
    ...reads.map(({ name }) => ({ name, arguments: {} })),
    { name: 'create_todo', arguments: { items: [{ title: 'One' }] } },
  ]
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'hostile', version: '1' } }
  const sent = [
    { id: 1, method: 'initialize', params: client },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    ...calls.map((params, index) => ({ id: index + 3, method: 'tools/call', params })),
  ]
  return sent.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
}
