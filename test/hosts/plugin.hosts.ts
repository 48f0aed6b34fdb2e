import { describe } from 'vitest'
import { PLUGGED } from './driven/plugged.ts'
import { sendsOn } from './scenarios.ts'

describe.each(PLUGGED)('with the plugin in $name, a session', host => {
  sendsOn(host)
})
