import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '../src/index.ts'
import { ms, type Row } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '../bin/punchlist.js')
const ROUNDS = 25
const AT_ONCE = 5

/** What a hook costs at the end of a turn, against a Node that does nothing. */
export async function hook(): Promise<Row[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'punchlist-bench-'))
  try {
    await prepare(cwd)
    const bare = [process.execPath, '-e', '0']
    const hooked = [process.execPath, PROGRAM, 'hook', 'claude-code']
    const best = { bare: Infinity, nothing: Infinity, elsewhere: Infinity, open: Infinity, set: Infinity }
    for (let round = 0; round < ROUNDS; round++) {
      const least = (name: keyof typeof best, command: readonly string[], kind: string) => {
        best[name] = Math.min(best[name], processorTime(command, cwd, kind, round))
      }
      least('bare', bare, 'none')
      least('nothing', hooked, 'none')
      least('elsewhere', hooked, 'elsewhere')
      least('open', hooked, 'open')
      least('set', hooked, 'set')
    }
    const row = (what: string, ours: number, bar: number): Row => ({
      what,
      ours: ms(ours),
      against: `node -e 0: ${ms(best.bare)}`,
      ratio: ours / best.bare,
      bar,
      must: 'at most',
    })
    return [
      row('hook claude-code, Stop, nothing to do', best.nothing, 1.35),
      row('hook claude-code, Stop, no list in that folder', best.elsewhere, 1.35),
      row('hook claude-code, Stop, open plan of 50 items', best.open, 1.6),
      row('hook claude-code, Stop, nothing to do, accepted wards', best.set, 1.5),
    ]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** Each call is the first of its session, so that each is sent on: a session that makes no progress is left alone soon. */
async function prepare(cwd: string): Promise<void> {
  mkdirSync(join(cwd, 'list', '.git'), { recursive: true })
  mkdirSync(join(cwd, 'empty', '.git'), { recursive: true })
  await prepareSettings(join(cwd, 'set'))
  const list = await open({ root: join(cwd, 'list') })
  const items = Array.from({ length: 50 }, (_, n) => ({ title: `item ${n}`, context: `what to know of item ${n}` }))
  for (let n = 0; n < ROUNDS * AT_ONCE; n++) {
    const session = `session-${n}`
    await list.as({ conversationId: session }).plan.create({ items })
    const event = (folder: string, id: string) =>
      JSON.stringify({ session_id: id, cwd: join(cwd, folder), hook_event_name: 'Stop', stop_hook_active: false })
    writeFileSync(join(cwd, `open-${n}`), event('list', session))
    writeFileSync(join(cwd, `none-${n}`), event('list', 'nobody'))
    writeFileSync(join(cwd, `elsewhere-${n}`), event('empty', 'nobody'))
    writeFileSync(join(cwd, `set-${n}`), event('set', 'nobody'))
  }
  await list.close()
}

/** A folder with a list, and with settings that its user has accepted. */
async function prepareSettings(root: string): Promise<void> {
  mkdirSync(join(root, '.git'), { recursive: true })
  writeFileSync(join(root, 'punchlist.json'), JSON.stringify({ wards: ['npm test'] }))
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'trust', '--yes'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const list = await open({ root })
  await list.plan.create({ items: [{ title: 'item' }] })
  await list.close()
}

function processorTime(command: readonly string[], cwd: string, kind: string, round: number): number {
  const files = Array.from({ length: AT_ONCE }, (_, n) => `${kind}-${round * AT_ONCE + n}`).join(' ')
  const script = `TIMEFORMAT="%U %S"; time for file in ${files}; do "$@" <$file >/dev/null || exit; done`
  const { stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...command], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command.join(' ')}: exit ${status}\n${stderr}`)
  const [user, system] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  return ((user! + system!) * 1000) / AT_ONCE
}
