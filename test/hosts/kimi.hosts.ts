import { kimi } from './driven/kimi.ts'
import { keepsGoing, mirrorsList } from './scenarios.ts'
import type { Step } from './script.ts'
import { TITLES } from './scripts.ts'

const writes = (status: string): Step => ({
  call: 'TodoList',
  input: { todos: TITLES.map(title => ({ title, status })) },
})

keepsGoing(kimi)
mirrorsList(kimi, [writes('pending')], [writes('done')])
