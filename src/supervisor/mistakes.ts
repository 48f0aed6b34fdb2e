import { Problem } from '../core/problem.ts'
import type { SupervisorOptions } from './options.ts'

/** The longest a timer can wait: beyond it, it fires at once. */
const LONGEST_MS = 2_147_483_647

/** What cannot work is said at once, and not in the middle of a turn. */
export function refuseMistakes(options: SupervisorOptions, planTools: readonly string[], delegate: string): void {
  const mistakes = [
    ...inTools(options, [...planTools, delegate]),
    ...inWorkers(options, planTools),
    ...inNumbers('limits', options.limits, 1, Number.MAX_SAFE_INTEGER),
    ...inCompletion(options),
  ]
  if (mistakes.length === 0) return
  throw new Problem('bad_input', mistakes.join('; '), 'Change these options of createSupervisor.', { mistakes })
}

function inTools({ tools = {} }: SupervisorOptions, own: readonly string[]): string[] {
  return Object.entries(tools).flatMap(([name, tool]) => {
    if (own.includes(name)) return [`tools.${name}: is the supervisor's own`]
    if (tool.execute || tool.type === 'provider') return []
    return [`tools.${name}: has no execute, and the supervisor carries its tools out itself`]
  })
}

function inWorkers({ workers = {} }: SupervisorOptions, planTools: readonly string[]): string[] {
  return Object.entries(workers).flatMap(([name, worker]) => {
    const { tools = {}, maxSteps } = 'run' in worker ? {} : worker
    return [
      ...(name.trim() === '' ? ['workers: one has no name'] : []),
      ...Object.keys(tools)
        .filter(one => planTools.includes(one))
        .map(one => `workers.${name}.tools.${one}: workers do not see the plan`),
      ...inNumbers(`workers.${name}`, { maxSteps }, 1, Number.MAX_SAFE_INTEGER),
      ...inNumbers(`workers.${name}`, { timeoutMs: worker.timeoutMs }, 1, LONGEST_MS),
    ]
  })
}

function inNumbers(of: string, numbers: object = {}, least: number, most: number): string[] {
  return Object.entries(numbers)
    .filter(([, value]) => value !== undefined && (!Number.isInteger(value) || value < least || value > most))
    .map(([name]) => `${of}.${name}: must be a whole number from ${least}${most === LONGEST_MS ? ` to ${most}` : ''}`)
}

function inCompletion({ check, completion = check && 'verified' }: SupervisorOptions): string[] {
  if (!check) return completion === 'verified' ? ['completion: verified needs a check'] : []
  return [
    ...(check.length === 0 || check[0] === '' ? ['check: names no command'] : []),
    ...(completion === 'verified' ? [] : [`check: is not run with completion ${completion}`]),
  ]
}
