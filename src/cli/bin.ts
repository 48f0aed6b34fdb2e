import { main } from './main.ts'
import { processTerminal } from './terminal.ts'

const around = { terminal: processTerminal(), env: process.env, cwd: process.cwd() }

// No top-level await: the program is also built as CommonJS. A bug crashes, with its stack.
// Everything has been written by now; waiting for the process to run out of work would take another millisecond.
void main(process.argv.slice(2), around).then(status => process.exit(status))
