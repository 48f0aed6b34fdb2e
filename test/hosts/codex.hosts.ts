import { codex } from './driven/codex.ts'
import { keepsGoing, mirrorsList, remembersPlan } from './scenarios.ts'
import type { Step } from './script.ts'
import { TITLES } from './scripts.ts'

const updates = (status: string): Step => ({
  call: 'update_plan',
  input: { plan: TITLES.map(step => ({ step, status })) },
})

keepsGoing(codex)
remembersPlan(codex)
mirrorsList(codex, [updates('pending')], [updates('completed')])
