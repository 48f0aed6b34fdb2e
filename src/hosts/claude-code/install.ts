import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { serverCommand } from '../install/command.ts'
import { inside } from '../install/entries.ts'
import { hooks } from '../install/hooks.ts'
import { folderOf, type Hindrance, type Where, type Wiring } from '../install/host.ts'
import { server } from '../install/server.ts'
import { skill } from '../install/skill.ts'
import { documentIn, hasPluginIn, switchedOff } from '../install/switches.ts'

/** The server's own instructions and the skill reach the model: CLAUDE.md is left alone. */
export const claudeCodeWiring: Wiring = {
  host: 'claude-code',
  title: 'Claude Code',
  program: 'claude',
  levels: ['project', 'user'],
  pieces(where) {
    const { level, root, home, env } = where
    const own = folderOf(where, 'CLAUDE_CONFIG_DIR', '.claude')
    const folder = level === 'project' ? { root, below: (path: string) => `.claude/${path}` } : own
    // The user's servers stand beside the folder, but in it where the variable names one.
    const servers = env['CLAUDE_CONFIG_DIR']?.startsWith('/') ? { root: own.root } : { root: home }
    return [
      hooks({
        host: 'claude-code',
        level,
        root: folder.root,
        path: folder.below('settings.json'),
        events: EVENTS,
        limit: () => ({ timeout: 20 }),
      }),
      server(level === 'project' ? { root, path: '.mcp.json' } : { ...servers, path: '.claude.json' }, 'mcpServers', {
        type: 'stdio',
        ...serverCommand(level),
      }),
      skill(folder.root, folder.below('skills')),
    ]
  },
  after:
    'Claude Code asks once whether it may start the server of a project; claude -p needs --allowedTools mcp__punchlist.',
  hasPlugin: at => hasPluginIn(settingsFiles(at), at.root),
  hindrances: async where => [
    ...switchedOff(settingsFiles(where), ['disableAllHooks'], true, where.root),
    ...untrusted(where),
  ],
}

const EVENTS = {
  Stop: null,
  SubagentStop: null,
  StopFailure: null,
  SessionStart: null,
  SessionEnd: null,
  UserPromptSubmit: null,
  PreCompact: null,
  TaskCreated: null,
  TaskCompleted: null,
  PostToolUse: 'TodoWrite|TaskCreate|TaskUpdate',
}

function settingsFiles({ root, home, env }: Omit<Where, 'level'>): string[] {
  const folders = [env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), join(root, '.claude'), '/etc/claude-code']
  const names = ['settings.json', 'settings.local.json', 'managed-settings.json']
  return folders.flatMap(folder => names.map(name => join(folder, name)))
}

/** Hooks and server of such a folder are run in `claude -p` all the same; what its settings allow is not. */
function untrusted({ level, root, home, env }: Where): Hindrance[] {
  const own = documentIn(join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'), root)
  if (level === 'user' || inside(own, ['projects', realpathSync(root), 'hasTrustDialogAccepted']) === true) return []
  return [{ detail: 'the folder is not trusted yet: claude -p needs --allowedTools mcp__punchlist', hint: '' }]
}
