import type { Attempt, Failed } from './attempt.ts'

/** What costs too much costs more if it is tried again. */
export const BUDGET = 'budget'

export function isOverBudget({ run, spentUsd, costUsd = 0 }: Attempt): boolean {
  return run.budgetUsd !== undefined && spentUsd + costUsd > run.budgetUsd
}

export function overBudget({ run, spentUsd, costUsd = 0 }: Attempt): Failed {
  return { type: BUDGET, text: `cost ${(spentUsd + costUsd).toFixed(2)} USD, more than ${run.budgetUsd} USD` }
}
