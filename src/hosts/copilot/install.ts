import { join } from 'node:path'
import { passage } from '../install/block.ts'
import { serverCommand } from '../install/command.ts'
import { hooks } from '../install/hooks.ts'
import { folderOf, type Where, type Wiring } from '../install/host.ts'
import { server } from '../install/server.ts'
import { skill } from '../install/skill.ts'
import { hasPluginIn, switchedOff } from '../install/switches.ts'
import { INSTRUCTIONS } from '../install/texts.ts'

/** With Claude Code's names of events Copilot sends Claude Code's fields, the event's name among them. */
export const copilotWiring: Wiring = {
  host: 'copilot',
  title: 'Copilot CLI',
  program: 'copilot',
  levels: ['project', 'user'],
  pieces(where) {
    const { level, root, home } = where
    const own = folderOf(where, 'COPILOT_HOME', '.copilot')
    const file = {
      host: 'copilot',
      level,
      events: EVENTS,
      limit: () => ({ timeoutSec: 20 }),
      flat: true,
      head: { version: 1 },
    }
    if (level === 'project') {
      return [
        hooks({ ...file, root, path: '.github/hooks/punchlist.json' }),
        server({ root, path: '.mcp.json' }, 'mcpServers', { type: 'stdio', ...serverCommand(level) }),
        skill(root, '.agents/skills'),
        passage(root, 'AGENTS.md', INSTRUCTIONS),
      ]
    }
    return [
      hooks({ ...file, root: own.root, path: own.below('hooks/punchlist.json') }),
      server({ root: own.root, path: own.below('mcp-config.json') }, 'mcpServers', {
        type: 'local',
        ...serverCommand(level),
        tools: ['*'],
      }),
      skill(home, '.agents/skills'),
      passage(own.root, own.below('copilot-instructions.md'), INSTRUCTIONS),
    ]
  },
  after: 'Copilot CLI loads the hooks of a project only in a folder that you trust.',
  hasPlugin: at => hasPluginIn(settingsFiles(at), at.root),
  hindrances: async where => switchedOff(settingsFiles(where), ['disableAllHooks'], true, where.root),
}

const EVENTS = {
  Stop: null,
  SubagentStop: null,
  SessionStart: null,
  SessionEnd: null,
  UserPromptSubmit: null,
}

function settingsFiles({ root, home, env }: Omit<Where, 'level'>): string[] {
  return [
    join(env['COPILOT_HOME'] || join(home, '.copilot'), 'settings.json'),
    join(root, '.github/copilot/settings.json'),
  ]
}
