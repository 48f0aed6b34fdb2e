import { drainsTasks, drainsUnwired } from './draining.ts'
import { AGENTS } from './driven/agents.ts'

drainsTasks(AGENTS.codex)
drainsUnwired(AGENTS.codex)
