/** How many calls of the model a turn may take. */
export interface Limits {
  /** Without a plan, and before each change of one. */
  readonly base: number
  /** With a plan that is being worked off, in all. */
  readonly withPlan: number
}

export const LIMITS: Limits = { base: 10, withPlan: 50 }

export interface Budget extends Limits {
  /** The calls that are allowed as things stand. */
  readonly max: number
  /** How the plan stood when this was last decided. */
  readonly seen: string
}

/** `seen`: how the plan stands at the beginning, which may be one that is carried on. */
export function budgetOf(limits: Limits, seen: string): Budget {
  return { ...limits, max: limits.base, seen }
}

/**
 * The budget after a call of the model: while something can be done and the plan
 * has changed since it was last extended, another `base` calls. An item that
 * nobody touches buys nothing.
 */
export function extended(
  budget: Budget,
  calls: number,
  plan: { readonly open: number; readonly state: string },
): Budget {
  const { base, withPlan, max, seen } = budget
  if (plan.open === 0 || plan.state === seen) return budget
  return { ...budget, max: Math.max(max, Math.min(calls + base, withPlan)), seen: plan.state }
}
