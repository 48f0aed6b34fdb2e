import { join } from 'node:path'
import { serverCommand } from '../install/command.ts'
import { hooks } from '../install/hooks.ts'
import type { Wiring } from '../install/host.ts'
import { server } from '../install/server.ts'
import { skill } from '../install/skill.ts'
import { switchedOff } from '../install/switches.ts'

export const geminiWiring: Wiring = {
  host: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  levels: ['project', 'user'],
  pieces({ level, root: project, home }) {
    const root = level === 'project' ? project : home
    const path = '.gemini/settings.json'
    return [
      // Milliseconds, where the others count seconds.
      hooks({ host: 'gemini', level, root, path, events: EVENTS, limit: () => ({ timeout: 20_000 }) }),
      server({ root, path }, 'mcpServers', { ...serverCommand(level) }),
      skill(root, '.agents/skills'),
    ]
  },
  after: 'Gemini CLI loads the settings of a project only in a folder that you trust: /permissions, or when it asks.',
  hindrances: async ({ root, home }) =>
    switchedOff(
      [join(home, '.gemini/settings.json'), join(root, '.gemini/settings.json')],
      ['hooksConfig', 'enabled'],
      false,
      root,
    ),
}

const EVENTS = {
  AfterAgent: null,
  BeforeAgent: null,
  SessionStart: null,
  SessionEnd: null,
  AfterTool: 'write_todos',
}
