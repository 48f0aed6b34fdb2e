import { folderOf, type Wiring } from '../install/host.ts'
import { LOADER_MARK, loader } from '../install/loader.ts'
import { skill } from '../install/skill.ts'
import { whole } from '../install/whole.ts'

/** pi has no MCP: its extension brings the tools along. */
export const piWiring: Wiring = {
  host: 'pi',
  title: 'pi',
  program: 'pi',
  levels: ['user'],
  pieces(where) {
    const own = folderOf(where, 'PI_CODING_AGENT_DIR', '.pi/agent')
    return [
      whole(
        { name: 'extension', root: own.root, path: own.below('extensions/punchlist.ts') },
        loader(where, 'pi', 'pi.js', PASSED),
        LOADER_MARK,
      ),
      skill(where.home, '.agents/skills'),
    ]
  },
}

const PASSED = `export default async function (pi) {
  const module = await found()
  await module?.default(pi)
}`
