import { punchlist } from './plugin.ts'

/** The form that OpenCode takes from a package, from a file, and from a file in `.opencode/plugin` that passes it on. */
export default { id: 'punchlist', server: punchlist }
