import type { Checking, Verification } from './check.ts'
import type { Caller } from './operation.ts'

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
    return { verdict: 'unknown', text: 'not run: the wards came with the repository and are not trusted here' }
  }
  const { runCheck } = await import('./check.ts')
  for (const command of commands) {
    const verification = await runCheck(command, { cwd: caller.here, now: caller.now, ...running })
    if (verification.exit === 0) continue
    return { verdict: 'failed', text: `failed: ${command.join(' ')} (${ending(verification)})`, failed: verification }
  }
  return { verdict: 'passed', text: `passed: ${commands.map(command => command.join(' ')).join('; ')}` }
}

export function ending({ exit, signal }: Verification): string {
  return exit === null ? (signal ?? 'could not be started') : `exit ${exit}`
}
