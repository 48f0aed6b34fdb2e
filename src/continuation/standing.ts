import { type Hush, type Standing, spoken } from './judging.ts'

/** A session that stumbled. What only the user can lift outlasts an abort, which the assistant can lift too. */
export function struck(standing: Standing, hush: Hush): Standing {
  return standing.hush === null || standing.hush === 'aborted' ? { ...standing, hush } : standing
}

export function lifted(standing: Standing, hush: Hush): Standing {
  return standing.hush === hush ? { ...standing, hush: null } : standing
}

/**
 * What is remembered from before a restart, with what happened since. Hosts
 * tell of old messages again: what the user wrote before the last injection
 * has been counted then.
 */
export function recalledOver(
  remembered: Standing,
  since: { readonly standing: Standing; readonly lifted: boolean; readonly spokenAt: number | null },
): Standing {
  const { spokenAt, standing } = since
  const isNews = spokenAt !== null && (remembered.injectedAt === null || spokenAt > remembered.injectedAt)
  const now = isNews ? spoken() : since.lifted ? lifted(remembered, 'aborted') : remembered
  return standing.hush ? struck(now, standing.hush) : now
}

export function isSame(one: Standing, other: Standing): boolean {
  const fields = ({ injections, fruitless, unshortened, before, injectedAt, hush }: Standing) =>
    JSON.stringify([injections, fruitless, unshortened, before && [before.open, before.completed], injectedAt, hush])
  return one === other || fields(one) === fields(other)
}
