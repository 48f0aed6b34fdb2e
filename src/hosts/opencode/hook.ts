import { pluginHost } from '../telling.ts'

export const opencode = pluginHost('opencode', 'OpenCode')
