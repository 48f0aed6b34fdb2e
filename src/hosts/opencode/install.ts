import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { serverCommand } from '../install/command.ts'
import { folderOf, type Wiring } from '../install/host.ts'
import { LOADER_MARK, loader } from '../install/loader.ts'
import { server } from '../install/server.ts'
import { skill } from '../install/skill.ts'
import { whole } from '../install/whole.ts'

export const opencodeWiring: Wiring = {
  host: 'opencode',
  title: 'OpenCode',
  program: 'opencode',
  levels: ['project', 'user'],
  pieces(where) {
    const { level, root, home } = where
    const xdg = folderOf(where, 'XDG_CONFIG_HOME', '.config')
    const folder = level === 'project' ? { root, below: (path: string) => path } : xdg
    const plugin = level === 'project' ? '.opencode/plugin/punchlist.ts' : xdg.below('opencode/plugin/punchlist.ts')
    const settings = ['opencode.jsonc', 'opencode.json'].map(name =>
      level === 'project' ? name : xdg.below(`opencode/${name}`),
    )
    const { command, args } = serverCommand(level)
    return [
      whole(
        { name: 'plugin', root: folder.root, path: plugin },
        loader(where, 'opencode', 'opencode.js', PASSED),
        LOADER_MARK,
      ),
      server(
        { root: folder.root, path: settings.find(path => existsSync(join(folder.root, path))) ?? settings[1]! },
        'mcp',
        {
          type: 'local',
          command: [command, ...args],
          enabled: true,
        },
      ),
      skill(level === 'project' ? root : home, '.agents/skills'),
    ]
  },
}

const PASSED = `export default {
  id: 'punchlist',
  async server(host, options) {
    const module = await found(host.directory)
    return module ? await module.default.server(host, options) : {}
  },
}`
