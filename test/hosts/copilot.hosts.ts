import { copilot } from './driven/copilot.ts'
import { keepsGoing, remembersPlan } from './scenarios.ts'

keepsGoing(copilot)
remembersPlan(copilot)
