import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { serverCommand } from '../install/command.ts'
import { hooks } from '../install/hooks.ts'
import type { Wiring } from '../install/host.ts'
import { server } from '../install/server.ts'
import { skill } from '../install/skill.ts'
import { switchedOff } from '../install/switches.ts'

/**
 * Qwen Code starts the servers of a project only when a person has approved
 * them, which nobody can in `qwen -p`; so the server is the user's own.
 */
export const qwenWiring: Wiring = {
  host: 'qwen',
  title: 'Qwen Code',
  program: 'qwen',
  levels: ['project', 'user'],
  pieces({ level, root: project, home }) {
    const root = level === 'project' ? project : home
    const path = '.qwen/settings.json'
    return [
      hooks({ host: 'qwen', level, root, path, events: EVENTS, limit: () => ({ timeout: 20 }) }),
      server({ root: home, path }, 'mcpServers', { ...serverCommand('user'), alwaysLoadTools: true }),
      skill(root, '.agents/skills'),
    ]
  },
  hasPlugin: ({ home }) => existsSync(join(home, '.qwen/extensions/punchlist')),
  hindrances: async ({ root, home }) =>
    switchedOff(
      [join(home, '.qwen/settings.json'), join(root, '.qwen/settings.json')],
      ['disableAllHooks'],
      true,
      root,
    ),
}

const EVENTS = {
  Stop: null,
  SubagentStop: null,
  StopFailure: null,
  SessionStart: null,
  SessionEnd: null,
  UserPromptSubmit: null,
  TodoCreated: null,
  TodoCompleted: null,
  PostToolUse: 'todo_write',
}
