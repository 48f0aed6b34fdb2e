import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, vi } from 'vitest'
import { answer, HOME, punchlist, type Ran, type Surrounded, start } from './cli.ts'
import { scratch } from './scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')

/** A folder with a queue, and an agent that is a shell script. */
export interface Here extends Surrounded {
  readonly env: Readonly<Record<string, string>>
}

/** `script`: what the agent does; its prompt is in `$prompt`, the task in `$PUNCHLIST_TASK`. */
export function runHere(script: string, { store = '', wards = [] as readonly string[] } = {}): Here {
  const cwd = scratch()
  const bin = join(cwd, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'punchlist'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, { mode: 0o755 })
  writeFileSync(join(cwd, 'agent.sh'), `#!/bin/sh\nprompt=$(cat)\n${script}\n`, { mode: 0o755 })
  if (wards.length > 0) writeFileSync(join(cwd, 'punchlist.json'), JSON.stringify({ wards }))
  const PATH = [bin, process.env['PATH']].join(delimiter)
  const here = { cwd, env: { PATH, ...(store === '' ? {} : { PUNCHLIST_STORE: store }) } }
  if (wards.length > 0) acceptAllAtOnce(here)
  return here
}

/** The same as `acceptAll`, for one who cannot wait. */
function acceptAllAtOnce({ cwd, env }: Here): void {
  execFileSync(process.execPath, [PROGRAM, 'trust', '--yes'], { cwd, env: { HOME: HOME(), ...env }, stdio: 'ignore' })
}

export async function addTask(here: Here, title: string, ...more: readonly string[]): Promise<string> {
  const added = await answer<{ task: { id: string } }>(
    ['queue', 'add', title, '--description', `About ${title}.`, '--expect', 'It is done.', ...more],
    here,
  )
  return added.task.id
}

export interface Shown {
  readonly id: string
  readonly state: string
  readonly verifiedAt: string | null
  readonly waiting: boolean
  readonly owner: string | null
}

export async function tasksIn(here: Here): Promise<Record<string, Shown>> {
  const { tasks } = await answer<{ tasks: Shown[] }>(['queue', 'list', '--all'], here)
  return Object.fromEntries(tasks.map(task => [task.id, task]))
}

/** Where each task stands, in one word. */
export async function statesIn(here: Here): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries(await tasksIn(here)).map(([id, { state }]) => [id, state]))
}

export async function run(here: Here, ...flags: readonly string[]): Promise<Ran> {
  return await punchlist(['run', ...flags, '--', './agent.sh'], here)
}

export interface Told {
  readonly what: string
  readonly task?: string
  readonly outcome?: string
  readonly [field: string]: unknown
}

/** The events of a run that is started and waited for. */
export async function runTelling(here: Here, ...flags: readonly string[]): Promise<Told[]> {
  const { stdout } = await punchlist(['run', '--json', ...flags, '--', './agent.sh'], here)
  return stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Told]))
}

export const begin = (here: Here, ...flags: readonly string[]) => start(['run', ...flags, '--', './agent.sh'], here)

/** Waits until an agent, or a ward, has made a file. */
export async function appears(here: Here, file: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(join(here.cwd, file))).toBe(true), 20_000)
}

/** The processes whose command line is this. */
export function running(line: string): string[] {
  const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
  return all.filter(each => each.trim() === line)
}
