import { drainsTasks } from './draining.ts'
import { AGENTS } from './driven/agents.ts'

drainsTasks(AGENTS.opencode)
