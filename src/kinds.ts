import { todo } from './backlog/kind.ts'
import { continuation } from './continuation/record.ts'
import type { Kind } from './core/kind.ts'
import { planItem, turn } from './plans/record.ts'
import { task } from './queue/kind.ts'
import { worklog } from './worklogs/kind.ts'

/** Every kind of item there is. */
export const kinds: readonly Kind[] = [planItem, turn, todo, task, worklog, continuation]
