import { join } from 'node:path'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { type DrivenHost, PUNCHLIST } from './host.ts'
import { qwen } from './qwen.ts'

const FOLDER = join(PUNCHLIST[1], '../../plugin')

/** The hosts that the plugin is for, with it and nothing else of ours: installed as its README says. */
export const PLUGGED: readonly DrivenHost[] = [
  plugged(
    claudeCode,
    1,
    [
      ['plugin', 'marketplace', 'add', FOLDER],
      ['plugin', 'install', 'punchlist@punchlist'],
    ],
    args => args.map(word => (word === 'mcp__punchlist' ? 'mcp__plugin_punchlist_punchlist' : word)),
  ),
  plugged(
    codex,
    2,
    [
      ['plugin', 'marketplace', 'add', FOLDER],
      ['plugin', 'add', 'punchlist@punchlist'],
    ],
    args => args.map(word => (word === 'plugins' ? 'plugin_discovery_prefetch' : word)),
  ),
  plugged(copilot, 2, [
    ['plugin', 'marketplace', 'add', FOLDER],
    ['plugin', 'install', 'punchlist@punchlist'],
  ]),
  plugged(qwen, 2, [['extensions', 'install', `${FOLDER}:punchlist`, '--consent']]),
]

/** `words`: how many of the command are the program itself. */
function plugged(
  { init: _, ...host }: DrivenHost,
  words: number,
  installing: readonly (readonly string[])[],
  changed = (args: readonly string[]) => args,
): DrivenHost {
  const program = host.command('').slice(0, words)
  return {
    ...host,
    installing: installing.map(args => [...program, ...args]),
    command: (prompt, resumed) => changed(host.command(prompt, resumed)),
  }
}
