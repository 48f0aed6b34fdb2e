import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const programs = join(import.meta.dirname, 'programs')
const examples = join(root, 'examples')

/** Installs the programs, and what the examples need, as the lockfiles say. */
export default async function install(): Promise<void> {
  // At the same time: most of it is waiting for the registry.
  await Promise.all([
    installed(programs, 'the hosts, about 2 GB'),
    installed(examples, 'the SDKs of the examples, 320 MB'),
  ])
  // Copied, as a package is installed: what it imports is what the example has installed, not what we develop with.
  for (const part of ['package.json', 'dist']) {
    const copy = join(examples, 'node_modules/punchlist', part)
    rmSync(copy, { recursive: true, force: true })
    cpSync(join(root, part), copy, { recursive: true })
  }
}

/** Installs once: a stamp tells whether that has been done. */
async function installed(folder: string, what: string): Promise<void> {
  const stamp = join(folder, 'node_modules/.installed')
  const wanted = wantedStamp(folder)
  if (read(stamp) === wanted) return
  process.stdout.write(`Installing ${what}. This is done once.\n`)
  // Some choose an older version without a word where the Node that installs them is older.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const child = spawn('npm', args, {
    cwd: folder,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 900_000,
  })
  const [status, signal] = await once(child, 'exit')
  if (status !== 0) throw new Error(`npm ${args.join(' ')} in ${folder} failed: ${signal ?? `exit ${status}`}`)
  writeFileSync(stamp, wanted)
}

function wantedStamp(folder: string): string {
  const lock = createHash('sha256').update(readFileSync(join(folder, 'package-lock.json')))
  return `${process.platform}-${process.arch} ${lock.digest('hex')}\n`
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
