import { main } from './main.ts'
import { processTerminal } from './terminal.ts'

const around = { terminal: processTerminal(), env: process.env, cwd: process.cwd() }

// No top-level await: the program is also built as CommonJS. A bug crashes, with its stack.
void main(process.argv.slice(2), around).then(status => {
  process.exitCode = status
})
