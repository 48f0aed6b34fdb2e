import { punchlist } from './plugin.ts'

/** For `"plugin": ["punchlist/opencode"]`, and for a file in `.opencode/plugin` that passes it on. */
export default { id: 'punchlist', server: punchlist }
