#!/usr/bin/env node
// Plain JavaScript that any Node can read: where the Node that runs it is too
// old, the work is handed to the newer one in node_modules, if there is one.
// CommonJS, like the program itself: `import` of a built-in module touches all
// of its exports, and loading what those load costs a third of a start.
'use strict'

const OLDEST = 24

if (Number(process.versions.node.split('.')[0]) >= OLDEST) {
  require('node:module').enableCompileCache()
  // A hook is started by its host at every turn: it has a short way in. Typed by a person it is a command like the others.
  const hook = process.argv[2] === 'hook' && process.argv.length === 4 && !process.argv[3].startsWith('-')
  require(hook ? '../dist/hook/engines/sqlite/hook-bin.cjs' : '../dist/program/cli/bin.cjs')
} else {
  handOver()
}

function handOver() {
  const { existsSync } = require('node:fs')
  const path = require('node:path')
  const newer = ['../node_modules/node/bin/node', '../../node/bin/node']
    .map(place => path.join(__dirname, place))
    .find(place => existsSync(place))
  if (!newer) {
    process.stderr.write(
      `punchlist needs Node ${OLDEST} or newer; this is ${process.version}.\n` +
        `Install it from your package manager, or beside punchlist: npm install node@${OLDEST}\n`,
    )
    process.exitCode = 9
    return
  }
  const child = require('node:child_process').spawn(newer, [__filename, ...process.argv.slice(2)], { stdio: 'inherit' })
  // Whoever stops this process means the one that does the work; Ctrl-C reaches both anyway.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (status, signal) => {
    process.exitCode = signal ? 128 + require('node:os').constants.signals[signal] : status
  })
}
