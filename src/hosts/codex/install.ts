import { passage } from '../install/block.ts'
import { isOurServer, serverCommand } from '../install/command.ts'
import { hooks } from '../install/hooks.ts'
import { folderOf, type Wiring } from '../install/host.ts'
import { skill } from '../install/skill.ts'
import { INSTRUCTIONS } from '../install/texts.ts'
import { tables } from '../install/toml-tables.ts'
import { hasPlugin, trustOf } from './trust.ts'

/** Codex does not pass on what a server says about itself, so AGENTS.md does. */
export const codexWiring: Wiring = {
  host: 'codex',
  title: 'Codex',
  program: 'codex',
  levels: ['project', 'user'],
  pieces(where) {
    const { level, root, home } = where
    const own = folderOf(where, 'CODEX_HOME', '.codex')
    const folder = level === 'project' ? { root, below: (path: string) => `.codex/${path}` } : own
    const { command, args } = serverCommand(level)
    return [
      hooks({
        host: 'codex',
        level,
        root: folder.root,
        path: folder.below('hooks.json'),
        events: EVENTS,
        // More than 3 s is cut down for these, with a warning.
        limit: event => ({ timeout: event === 'SessionEnd' || event === 'Interrupt' ? 3 : 20 }),
      }),
      tables({ name: 'MCP server', root: folder.root, path: folder.below('config.toml') }, [
        {
          kind: 'table',
          path: ['mcp_servers', 'punchlist'],
          keys: { command, args },
          isOurs: keys => isOurServer(keys.get('command'), keys.get('args'), level),
        },
      ]),
      level === 'project' ? skill(root, '.agents/skills') : skill(home, '.agents/skills'),
      level === 'project'
        ? passage(root, 'AGENTS.md', INSTRUCTIONS)
        : passage(own.root, own.below('AGENTS.md'), INSTRUCTIONS),
    ]
  },
  after:
    'Codex takes the configuration of a project that you trust, and runs hooks that you have accepted: start codex, then /hooks.',
  hasPlugin,
  hindrances: trustOf,
}

const EVENTS = {
  Stop: null,
  SubagentStop: null,
  Interrupt: null,
  SessionStart: null,
  SessionEnd: null,
  UserPromptSubmit: null,
  PostToolUse: 'update_plan',
}
