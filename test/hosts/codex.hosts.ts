import { codex, codexCutEarly } from './driven/codex.ts'
import { doesWithout, keepsGoing, mirrorsList, remembersPlan, remembersWhenCut } from './scenarios.ts'
import type { Step } from './script.ts'
import { following, makesPlan, TITLES } from './scripts.ts'

const updates = (status: string): Step => ({
  call: 'update_plan',
  input: { plan: TITLES.map(step => ({ step, status })) },
})

keepsGoing(codex)
doesWithout(codex)
remembersPlan(codex)
remembersWhenCut(codexCutEarly, bench => bench.run('Build it.', following(makesPlan)))
mirrorsList(codex, [updates('pending')], [updates('completed')])
