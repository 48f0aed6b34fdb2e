import { Problem } from '../../core/problem.ts'
import { claudeCodeWiring } from '../claude-code/install.ts'
import { codexWiring } from '../codex/install.ts'
import { copilotWiring } from '../copilot/install.ts'
import { geminiWiring } from '../gemini/install.ts'
import { kimiWiring } from '../kimi/install.ts'
import { opencodeWiring } from '../opencode/install.ts'
import { piWiring } from '../pi/install.ts'
import { qwenWiring } from '../qwen/install.ts'
import type { Level } from './command.ts'
import type { Wiring } from './host.ts'

export const WIRINGS: readonly Wiring[] = [
  claudeCodeWiring,
  opencodeWiring,
  codexWiring,
  geminiWiring,
  qwenWiring,
  copilotWiring,
  kimiWiring,
  piWiring,
]

/** The hosts that were named; all of them must be known, and have the level. */
export function wiringsFor(names: readonly string[], level: Level): Wiring[] {
  const unknown = names.filter(name => !WIRINGS.some(({ host }) => host === name))
  if (unknown.length > 0) {
    throw new Problem(
      'bad_input',
      `There is no host ${unknown.map(name => `"${name.slice(0, 60)}"`).join(', ')}`,
      `Use one of: ${WIRINGS.map(({ host }) => host).join(', ')}.`,
      { unknown },
    )
  }
  const found = WIRINGS.filter(({ host }) => names.includes(host))
  const lacking = found.filter(({ levels }) => !levels.includes(level)).map(({ host }) => host)
  if (lacking.length > 0) {
    throw new Problem(
      'bad_input',
      `${lacking.join(', ')}: there is no configuration of a project that it takes hooks from`,
      `Run: punchlist init ${lacking.join(' ')} --user`,
      { hosts: lacking },
    )
  }
  return found
}
