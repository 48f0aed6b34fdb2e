import { writeSync } from 'node:fs'
import { hook } from './hook.ts'

// Hosts start this hundreds of times a day: nothing is loaded that only other commands need.
void hook(process.argv[3] ?? '', process.env, process.cwd()).then(({ stdout, stderr, exit = 0 }) => {
  say(1, stdout)
  say(2, stderr)
  process.exit(exit)
})

/** A host that does not listen any more is let go as well. */
function say(descriptor: number, text: string | undefined): void {
  if (text === undefined) return
  try {
    writeSync(descriptor, `${text}\n`)
  } catch {
    process.exit(0)
  }
}
