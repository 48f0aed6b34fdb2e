#!/usr/bin/env node
// Plain JavaScript that any Node can read: where the Node that runs it is too
// old, the work is handed to the newer one in node_modules, if there is one.
// CommonJS, like the program itself: `import` of a built-in module touches all
// of its exports, and loading what those load costs a third of a start.
'use strict'

const OLDEST = 24

if (Number(process.versions.node.split('.')[0]) >= OLDEST) {
  const cache = cacheFolder()
  if (cache) require('node:module').enableCompileCache(cache)
  // A hook is started by its host at every turn: it has a short way in. Typed by a person it is a command like the others.
  const hook = process.argv[2] === 'hook' && process.argv.length === 4 && !process.argv[3].startsWith('-')
  require(hook ? '../dist/hook/engines/sqlite/hook-bin.cjs' : '../dist/program/engines/sqlite/bin.cjs')
} else {
  handOver()
}

/**
 * Returns the folder for compiled code, in the user's own cache: Node runs what
 * it finds there, and its own choice is a folder in /tmp that others can make
 * first. Undefined where Node's own variables name or forbid one, where the
 * folder or its parent is a link, another user's or writable for others, and
 * where it cannot be made: punchlist then starts without.
 */
function cacheFolder() {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME, HOME } = process.env
  if (NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return undefined
  const { isAbsolute, join } = require('node:path')
  const home = HOME && isAbsolute(HOME) ? join(HOME, '.cache') : undefined
  const base = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : home
  if (!base) return undefined
  const parent = join(base, 'punchlist')
  const folder = join(parent, 'compile')
  const isReady = () => isPrivate(parent) && isPrivate(folder)
  try {
    return isReady() || (made(base, parent, folder) && isReady()) ? folder : undefined
  } catch {
    return undefined
  }
}

/** Whether a path is a folder of this user's that nobody else can write to. Throws where something else is there. */
function isPrivate(path) {
  const stats = require('node:fs').lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return false
  const uid = process.getuid?.()
  const isOwn = uid === undefined || (stats.uid === uid && (stats.mode & 0o022) === 0)
  if (stats.isDirectory() && isOwn) return true
  throw new Error(`${path} is not used`)
}

/** Makes what is missing; false where that would be in a folder of another user's, as it is under sudo. */
function made(base, ...folders) {
  const { mkdirSync, statSync } = require('node:fs')
  const stats = statSync(base, { throwIfNoEntry: false }) ?? statSync(require('node:path').dirname(base))
  const uid = process.getuid?.()
  if (uid !== undefined && stats.uid !== uid) return false
  for (const path of [base, ...folders]) {
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
  }
  return true
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
