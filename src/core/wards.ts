import type { Checking, Verification } from './check.ts'
import type { Caller } from './operation.ts'

/** A command that must exit 0, word by word, and the variables that it gets besides those that every command gets. */
export interface Ward {
  readonly command: readonly string[]
  readonly env: readonly string[]
}

/** A ward as people type it. */
export function wardLine({ command }: Ward): string {
  return command.join(' ')
}

/** What came of running the wards: in words, as a worklog keeps it. */
export interface WardResult {
  readonly verdict: 'passed' | 'failed' | 'unknown'
  readonly text: string
  /** The one that failed. */
  readonly failed?: Verification
}

/** What whoever has wards run may say about how. */
export type Running = Pick<Checking, 'env' | 'signal' | 'onGroup'>

/** Runs every ward of the workspace, one after the other, until one fails. Undefined where there are none. */
export async function runWards(caller: Caller, running: Running = {}): Promise<WardResult | undefined> {
  const { commands, mayRun } = caller.wards
  if (commands.length === 0) return undefined
  if (!(await mayRun())) {
    return { verdict: 'unknown', text: 'not run: the wards were not accepted (punchlist trust)' }
  }
  const { runCheck } = await import('./check.ts')
  for (const ward of commands) {
    const checking = { cwd: caller.here, now: caller.now, passes: ward.env, ...running }
    const verification = await runCheck(ward.command, checking)
    if (verification.exit === 0) continue
    const text = `failed: ${wardLine(ward)} (${ending(verification)})${missedBy(verification)}`
    return { verdict: 'failed', text, failed: verification }
  }
  return { verdict: 'passed', text: `passed: ${commands.map(wardLine).join('; ')}` }
}

function ending({ exit, signal }: Verification): string {
  return exit === null ? (signal ?? 'could not be started') : `exit ${exit}`
}

/** The variables that a failed ward did not get, as the end of its output tells. */
function missedBy({ output }: Verification): string {
  const told = /\n\[([^\]\n]*not passed on to it: [\w, ]+)\]\n$/.exec(`\n${output}`)?.[1]
  return told === undefined ? '' : `; ${told}`
}
