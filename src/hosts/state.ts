import { join } from 'node:path'

/** A file of this user's, about this machine, outside of every workspace. */
export function stateFile(name: string): string {
  const home = process.env['HOME'] ?? process.getBuiltinModule('node:os').homedir()
  return join(process.env['XDG_STATE_HOME'] || join(home, '.local/state'), 'punchlist', name)
}
