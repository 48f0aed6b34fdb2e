import type { Hush, Standing } from './judging.ts'

/** A session that stumbled. What only the user can lift outlasts an abort, which the assistant can lift too. */
export function struck(standing: Standing, hush: Hush): Standing {
  return standing.hush === null || standing.hush === 'aborted' ? { ...standing, hush } : standing
}

export function lifted(standing: Standing, hush: Hush): Standing {
  return standing.hush === hush ? { ...standing, hush: null } : standing
}

/** What is remembered from before, with what happened since. */
export function recalledOver(
  remembered: Standing,
  since: { readonly standing: Standing; readonly lifted: boolean },
): Standing {
  const now = since.lifted ? lifted(remembered, 'aborted') : remembered
  return since.standing.hush ? struck(now, since.standing.hush) : now
}

export function isSame(one: Standing, other: Standing): boolean {
  const fields = ({ injections, fruitless, before, injectedAt, hush }: Standing) =>
    JSON.stringify([injections, fruitless, before && [before.open, before.completed], injectedAt, hush])
  return one === other || fields(one) === fields(other)
}
