import { gemini } from './driven/gemini.ts'
import { doesWithout, keepsGoing, mirrorsList, remembersPlan } from './scenarios.ts'
import type { Step } from './script.ts'
import { TITLES } from './scripts.ts'

const writes = (status: string): Step => ({
  call: 'write_todos',
  input: { todos: TITLES.map(description => ({ description, status })) },
})

keepsGoing(gemini)
doesWithout(gemini)
remembersPlan(gemini)
mirrorsList(gemini, [writes('pending')], [writes('completed')])
