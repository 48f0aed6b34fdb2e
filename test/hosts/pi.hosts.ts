import { pi } from './driven/pi.ts'
import { keepsGoing, remembersPlan } from './scenarios.ts'

keepsGoing(pi)
remembersPlan(pi)
