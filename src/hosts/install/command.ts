/** Whose configuration is written: the project's, which colleagues share, or the user's own. */
export type Level = 'project' | 'user'

/** How one comes by the program that is run then. */
export const INSTALLING: Readonly<Record<Level, string>> = {
  project: 'npm install --save-dev punchlist',
  user: 'npm install --global punchlist',
}

/**
 * What the hosts run. Hosts disagree about the shell, so it is always sh.
 *
 * In a project, the punchlist that it depends on comes first. In the user's own
 * configuration only the one on PATH is run: that configuration holds for every
 * folder, and a folder from somewhere else may bring any program along under
 * that name. Where there is none the hook says nothing and the host goes on:
 * a colleague may not have it.
 *
 * No text from outside goes in here. The folder is read by sh alone: Gemini and
 * Qwen replace $CLAUDE_PROJECT_DIR by themselves, quotes and all, but not in braces.
 */
export function hookCommand(host: string, level: Level): string {
  return `sh -c '${host === 'claude-code' ? UNLESS_COPILOT : ''}${script(`hook ${host}`, level, '"${CLAUDE_PROJECT_DIR:-.}"/')}'`
}

/** Copilot runs the hooks of Claude Code as well, besides its own; only hooks are told this folder. */
const UNLESS_COPILOT = '[ -z "$COPILOT_PROJECT_DIR" ] || exit 0; '

/** The server, word by word. It is started in the project; Claude Code would put a folder's name into the script as it is. */
export function serverCommand(level: Level): { readonly command: string; readonly args: readonly string[] } {
  return level === 'user'
    ? { command: 'punchlist', args: ['mcp'] }
    : { command: 'sh', args: ['-c', script('mcp', level, '')] }
}

function script(args: string, level: Level, folder: string): string {
  const local = `p=${folder}node_modules/.bin/punchlist; [ -x "$p" ] || p=punchlist`
  return `${level === 'user' ? 'p=punchlist' : local}; command -v "$p" >/dev/null || exit 0; exec "$p" ${args}`
}

/** Whether a hook was written by init, of whichever release and level: by how it ends. */
export function isOurHook(command: unknown, host: string): boolean {
  return typeof command === 'string' && command.startsWith("sh -c '") && command.endsWith(`exec "$p" hook ${host}'`)
}

/** Whether a hook calls us, whoever wrote it. */
export function callsUs(command: unknown, host: string): boolean {
  return typeof command === 'string' && /punchlist/.test(command) && command.includes(`hook ${host}`)
}

/** The same for a server. In a project, what init writes for a user was written by somebody else. */
export function isOurServer(command: unknown, args: unknown, level: Level): boolean {
  const words: unknown[] = Array.isArray(args) ? args : []
  if (level === 'user') return command === 'punchlist' && words.length === 1 && words[0] === 'mcp'
  return command === 'sh' && words.length === 2 && words[0] === '-c' && String(words[1]).endsWith('exec "$p" mcp')
}
