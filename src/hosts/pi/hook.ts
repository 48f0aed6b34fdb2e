import { pluginHost } from '../telling.ts'

export const pi = pluginHost('pi', 'pi')
