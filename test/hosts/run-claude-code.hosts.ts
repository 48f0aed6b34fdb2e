import { drainsTasks, drainsUnwired } from './draining.ts'
import { AGENTS } from './driven/agents.ts'

drainsTasks(AGENTS['claude-code'])
drainsUnwired(AGENTS['claude-code'])
