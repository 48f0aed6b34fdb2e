import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

const folder = join(import.meta.dirname, 'programs')
const stamp = join(folder, 'node_modules/.installed')

/** Installs the programs as the lockfile says, once: a stamp tells whether that has been done. */
export default function install(): void {
  const wanted = wantedStamp()
  if (read(stamp) === wanted) return
  process.stdout.write('Installing the hosts, about 2 GB. This is done once.\n')
  // Some choose an older version without a word where the Node that installs them is older.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status, error } = spawnSync('npm', args, {
    cwd: folder,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 900_000,
  })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} in ${folder} failed: ${error?.message ?? `exit ${status}`}`)
  writeFileSync(stamp, wanted)
}

function wantedStamp(): string {
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
