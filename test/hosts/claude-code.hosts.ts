import { claudeCode } from './driven/claude-code.ts'
import { doesWithout, keepsGoing, mirrorsList, remembersPlan, remembersWhenCut } from './scenarios.ts'
import { following, makesPlan, TITLES } from './scripts.ts'

keepsGoing(claudeCode)
doesWithout(claudeCode)
remembersPlan(claudeCode)
remembersWhenCut(claudeCode, bench => bench.talk(['Build it.', '/compact', 'What now?'], following(makesPlan)))
mirrorsList(
  claudeCode,
  TITLES.map(subject => ({ call: 'TaskCreate', input: { subject, description: 'As discussed.' } })),
  ['1', '2'].map(taskId => ({ call: 'TaskUpdate', input: { taskId, status: 'completed' } })),
  // Its own tools for this are off unless asked for.
  { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' },
)
