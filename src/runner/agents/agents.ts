import { Problem } from '../../core/problem.ts'
import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { command } from './command.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { punchlistAgent } from './punchlist.ts'

const AGENTS = { 'claude-code': claudeCode, codex, opencode, gemini } as const
const AGENT_NAMES = [...Object.keys(AGENTS), 'punchlist']

/** What starts an agent: its name, or a command; `words` are that command, or more arguments for the named one. */
export interface AgentWish {
  readonly name?: string | undefined
  readonly words: readonly string[]
  /** How this program was started, word by word. */
  readonly self: readonly string[]
}

/** One for each task: some remember what they heard. */
export function agentMaker({ name, words, self }: AgentWish): () => Agent {
  if (name === undefined && words.length > 0) return () => command(words)
  if (name === 'punchlist') return () => punchlistAgent(self, words)
  const make = name !== undefined && Object.hasOwn(AGENTS, name) ? AGENTS[name as keyof typeof AGENTS] : undefined
  if (make) return () => make(words)
  throw new Problem(
    'bad_input',
    name === undefined ? 'It is not said which agent is to do the tasks' : `There is no agent ${name}`,
    `Name one with --agent (${AGENT_NAMES.join(', ')}), set run.agent in punchlist.json, or give a command: punchlist run -- COMMAND.`,
    { agent: name ?? null },
  )
}
