import { isAbsolute, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** A file of this user's, about this machine, outside of every workspace. */
export function stateFile(name: string, env: Environment = process.env): string {
  const named = env['XDG_STATE_HOME']
  // One that depends on where one is would leave its files in workspaces, or take what lies there for its own.
  return join(named && isAbsolute(named) ? named : join(homeFolder(env), '.local/state'), 'punchlist', name)
}

/** A file of settings that this user wrote, outside of every workspace. */
export function configFile(name: string, env: Environment = process.env): string {
  const named = env['XDG_CONFIG_HOME']
  return join(named && isAbsolute(named) ? named : join(homeFolder(env), '.config'), 'punchlist', name)
}

/** The folder of this user: what the environment says, where it says anything. */
export function homeFolder(env: Environment): string {
  const named = env['HOME']
  // `homedir()` would believe an empty variable, and a relative one would lead into workspaces.
  return named && isAbsolute(named) ? named : process.getBuiltinModule('node:os').userInfo().homedir
}
