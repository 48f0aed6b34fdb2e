import type { Step } from '../script.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { gemini } from './gemini.ts'
import type { DrivenHost } from './host.ts'
import { opencodeRun } from './opencode.ts'

/** A real program as an agent of `punchlist run`. */
export interface DrivenAgent {
  readonly host: DrivenHost
  /** The name under which it is looked for in the PATH, and what is run then. */
  readonly program: string
  readonly launched: readonly string[]
  /** What its user lets it do, after `--`. */
  readonly more: readonly string[]
  /** How its model runs a command. */
  readonly shell: (command: string) => Step
  /** The id of its session, in what it prints for `run`. */
  readonly session: RegExp
}

export const AGENTS = {
  'claude-code': {
    host: claudeCode,
    program: 'claude',
    launched: claudeCode.command('').slice(0, 1),
    more: ['--allowedTools', 'Bash'],
    shell: command => ({ call: 'Bash', input: { command, description: 'As planned' } }),
    session: /"session_id":"([^"]+)"/,
  },
  codex: {
    host: codex,
    program: 'codex',
    launched: codex.command('').slice(0, 2),
    more: ['--disable', 'plugins', '--dangerously-bypass-hook-trust', '--dangerously-bypass-approvals-and-sandbox'],
    shell: command => ({ call: 'exec_command', input: { cmd: command } }),
    session: /"thread_id":"([^"]+)"/,
  },
  opencode: {
    host: opencodeRun,
    program: 'opencode',
    launched: opencodeRun.command('').slice(0, 1),
    more: [],
    shell: command => ({ call: 'bash', input: { command, description: 'As planned' } }),
    session: /"sessionID":"([^"]+)"/,
  },
  gemini: {
    host: gemini,
    program: 'gemini',
    launched: gemini.command('').slice(0, 2),
    more: ['--approval-mode', 'yolo', '-m', 'gemini-2.5-pro'],
    shell: command => ({ call: 'run_shell_command', input: { command } }),
    session: /"session_id":"([^"]+)"/,
  },
} as const satisfies Readonly<Record<string, DrivenAgent>>
