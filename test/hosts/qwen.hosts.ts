import { qwen } from './driven/qwen.ts'
import { keepsGoing, mirrorsList, remembersPlan } from './scenarios.ts'
import type { Step } from './script.ts'
import { TITLES } from './scripts.ts'

const writes = (status: string): Step => ({
  call: 'todo_write',
  input: { todos: TITLES.map((content, index) => ({ id: `${index + 1}`, content, status })) },
})

keepsGoing(qwen)
remembersPlan(qwen)
mirrorsList(qwen, [writes('pending')], [writes('completed')])
