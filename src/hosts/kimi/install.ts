import { passage } from '../install/block.ts'
import { hookCommand, isOurHook, serverCommand } from '../install/command.ts'
import { folderOf, type Wiring } from '../install/host.ts'
import { server } from '../install/server.ts'
import { skill } from '../install/skill.ts'
import { INSTRUCTIONS } from '../install/texts.ts'
import { tables } from '../install/toml-tables.ts'

/** Kimi Code has hooks in the user's configuration alone. */
export const kimiWiring: Wiring = {
  host: 'kimi',
  title: 'Kimi Code',
  program: 'kimi',
  levels: ['user'],
  pieces(where) {
    const own = folderOf(where, 'KIMI_CODE_HOME', '.kimi-code')
    const command = hookCommand('kimi', 'user')
    return [
      tables(
        { name: 'hooks of kimi', root: own.root, path: own.below('config.toml') },
        Object.entries(EVENTS).map(([event, matcher]) => ({
          kind: 'list',
          path: ['hooks'],
          keys: { event, ...(matcher === null ? {} : { matcher }), command, timeout: 20 },
          isOurs: keys => keys.get('event') === event && isOurHook(keys.get('command'), 'kimi'),
        })),
      ),
      server({ root: own.root, path: own.below('mcp.json') }, 'mcpServers', { ...serverCommand('user') }),
      skill(where.home, '.agents/skills'),
      passage(own.root, own.below('AGENTS.md'), INSTRUCTIONS),
    ]
  },
}

const EVENTS = {
  Stop: null,
  StopFailure: null,
  Interrupt: null,
  SessionStart: null,
  SessionEnd: null,
  UserPromptSubmit: null,
  PreToolUse: 'TodoList',
}
