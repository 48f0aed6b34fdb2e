import { lstatSync } from 'node:fs'
import { isOwn } from '../core/files.ts'
import type { Ward } from '../core/wards.ts'
import { readSettings, readUserSettings, type Settings } from '../settings.ts'
import { isAccepted } from './accepted.ts'
import { effective, itemsOf, type TrustItem } from './judgement.ts'
import { realRoot } from './root.ts'
import { wardsIn } from './ward-settings.ts'

/** The settings of a folder as far as they are in effect, and what of them its user has to accept. */
export interface Applied {
  readonly settings: Settings
  readonly items: readonly TrustItem[]
  readonly pending: readonly TrustItem[]
  readonly wards: readonly Ward[]
}

export function appliedSettings(file: string, root: string): Applied {
  const user = readUserSettings()
  const stats = lstatSync(file, { throwIfNoEntry: false })
  const written = stats ? readSettings(file) : {}
  const real = realRoot(root)
  // Accepted or not, its keys are judged one by one as well.
  const whole: TrustItem[] =
    stats && !isOwn(stats.uid)
      ? [{ what: 'settings', value: { file, owner: stats.uid, ...written }, effect: 'outside' }]
      : []
  const settled = whole.every(item => isAccepted(real, item))
  const items = [...whole, ...itemsOf(written, user, root)]
  // Commands are judged when they are to be run: to hash them would load a library at every start.
  const holds = (item: TrustItem) => item.effect === 'runs' || isAccepted(real, item)
  const settings = effective(settled ? written : {}, user, holds, root)
  const pending = items.filter(item => !holds(item))
  return { settings, items, pending, wards: wardsIn(settings.wards ?? [], file) }
}
