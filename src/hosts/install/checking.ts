import { INSTALLING, type Level } from './command.ts'
import { abandoned, beside, clear, type Place } from './holding.ts'
import type { Where, Wiring } from './host.ts'
import { isFound, programOutside } from './path.ts'
import { refused } from './piece.ts'
import { readPlain } from './place.ts'
import { isWired } from './planning.ts'
import { surroundings } from './surroundings.ts'
import { WIRINGS } from './wirings.ts'

/** What was found out about a host; a hint only where something is to be done. */
export interface HostCheck {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly hint: string
  /** Whether it has been put right just now. */
  readonly fixed: boolean
}

/**
 * Whether each host that is wired will really call us. Nothing that lies in the
 * project is run; where no host is wired a few files are looked for, and that is all.
 */
export async function checkHosts(root: string, env: Where['env'], fix: boolean): Promise<HostCheck[]> {
  const at = surroundings(root, env)
  const checks = leftBehind(at, fix)
  const unwired: Wiring[] = []
  for (const wiring of WIRINGS) {
    const levels = (['project', 'user'] as const).filter(level => isWired(wiring, { ...at, level }))
    const ways = [...levels, ...(wiring.hasPlugin?.(at) ? (['plugin'] as const) : [])]
    if (ways.length > 0) checks.push(...(await checked(wiring, ways, at)))
    else if (programOutside(wiring.program, at)) unwired.push(wiring)
  }
  return [...checks, ...(unwired.length > 0 ? [offer(unwired)] : [])]
}

/** How a host came to call us. The plugin, like what is the user's own, knows only what is on PATH. */
type Way = Level | 'plugin'

async function checked(wiring: Wiring, ways: readonly Way[], at: Omit<Where, 'level'>): Promise<HostCheck[]> {
  const hinders = ways.flatMap(way =>
    way === 'plugin'
      ? unfound({ ...at, level: 'user' })
      : [...lacking(wiring, { ...at, level: way }), ...unfound({ ...at, level: way })],
  )
  const level = ways.includes('project') ? 'project' : 'user'
  const found = [...hinders, ...((await wiring.hindrances?.({ ...at, level })) ?? [])]
  const known = found.filter(({ hint }) => hint !== '')
  if (known.length > 0)
    return known.map(({ detail, hint }) => ({ check: wiring.title, ok: false, detail, hint, fixed: false }))
  const told = ways.map(way => SAID[way]).join(', and ')
  const detail = [told, ...(ways.length > 1 ? ['its hooks run more than once'] : []), ...found.map(one => one.detail)]
  return [{ check: wiring.title, ok: true, detail: detail.join('; '), hint: '', fixed: false }]
}

const SAID: Readonly<Record<Way, string>> = {
  project: 'is wired for the project',
  user: 'is wired for the user',
  plugin: 'has the plugin',
}

/** Pieces that are not as init writes them. What the user has written in their place is the user's. */
function lacking(wiring: Wiring, where: Where): { detail: string; hint: string }[] {
  const again = `Run: punchlist init ${wiring.host}${where.level === 'user' ? ' --user' : ''}`
  return wiring.pieces(where).flatMap(piece => {
    try {
      const { file, text } = readPlain(piece.root, piece.path)
      if (text !== undefined && looked(file, () => piece.look(text)) !== 'missing') return []
      return [{ detail: `${file} is not as init writes it: ${piece.name}`, hint: again }]
    } catch (error) {
      return [{ detail: (error as Error).message, hint: 'Correct the file, then run punchlist doctor again.' }]
    }
  })
}

function looked<T>(file: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    throw refused(file, error)
  }
}

function unfound(where: Where): { detail: string; hint: string }[] {
  if (isFound(where)) return []
  return [{ detail: 'the hooks do not find punchlist, and do nothing', hint: `Run: ${INSTALLING[where.level]}` }]
}

function offer(wirings: readonly Wiring[]): HostCheck {
  const names = wirings.map(({ title }) => title).join(', ')
  const detail = `installed and not wired: ${names}; punchlist init ${wirings[0]!.host}`
  return { check: 'hosts', ok: true, detail, hint: '', fixed: false }
}

/** What an init that was killed has prepared beside the files of hosts. */
function leftBehind(at: Omit<Where, 'level'>, fix: boolean): HostCheck[] {
  const left = abandoned(WIRINGS.flatMap(wiring => placesOf(wiring, at)))
  if (left.length === 0) return []
  if (fix) clear(left)
  const detail = [...new Set(left.map(({ file }) => beside(file)))].join(', ')
  return [{ check: 'left by init', ok: fix, detail, hint: fix ? '' : 'Run: punchlist doctor --fix', fixed: fix }]
}

function placesOf(wiring: Wiring, at: Omit<Where, 'level'>): Place[] {
  return wiring.levels
    .flatMap(level => wiring.pieces({ ...at, level }))
    .flatMap(({ root, path }) => {
      try {
        return [readPlain(root, path)]
      } catch {
        return []
      }
    })
}
