import {
  type Declaration,
  declarations,
  type Effect,
  type Settings,
  type SettingsKey,
  type UserSettings,
  valueAt,
} from '../settings.ts'

/** Something in a folder that takes effect only after its user accepted it. */
export interface TrustItem {
  /** The dotted key: `wards`, `run.agent`, `continuation.maxInjections`. */
  readonly what: string
  readonly value: unknown
  readonly effect: Effect
}

/** What of a folder's settings takes effect only after its user accepted it. */
export function itemsOf(settings: Settings, user: UserSettings, root: string): TrustItem[] {
  return declarations().flatMap(([key, declaration]) => {
    const item = itemAt(key, declaration, settings, user, root)
    return item === undefined || item.effect === 'none' ? [] : [item]
  })
}

/**
 * The settings that apply. A folder's value wins over the user's, but one that
 * has an effect only where `accepted` holds for it; else the user's own value or
 * the default applies. The user's limits hold for all of them.
 */
export function effective(
  settings: Settings,
  user: UserSettings,
  accepted: (item: TrustItem) => boolean,
  root: string,
): Settings {
  const applied: Record<string, unknown> = {}
  for (const [key, declaration] of declarations()) {
    const item = itemAt(key, declaration, settings, user, root)
    const holds = item !== undefined && (item.effect === 'none' || accepted(item))
    const chosen = holds ? item.value : valueAt(user, key)
    const value = limited(key, chosen ?? declaration.default, user)
    if (chosen !== undefined || value !== declaration.default) set(applied, key, value)
  }
  return applied
}

/** The value of an item as people may see it: the password in the URL of a store is left out. */
export function shownValue({ what, value }: TrustItem): unknown {
  return what === 'store' && typeof value === 'string' ? withoutPassword(value) : value
}

function itemAt(
  key: SettingsKey,
  declaration: Declaration<unknown>,
  settings: Settings,
  user: UserSettings,
  root: string,
): TrustItem | undefined {
  const value = valueAt(settings, key)
  if (value === undefined) return undefined
  const base = limited(key, valueAt(user, key) ?? declaration.default, user)
  // What a limit takes back is not worth a question.
  return { what: key, value, effect: declaration.effectOf(limited(key, value, user), { root, base }) }
}

const LIMITED: Readonly<Partial<Record<SettingsKey, keyof NonNullable<UserSettings['limits']>>>> = {
  'run.workers': 'workers',
  'continuation.maxFruitless': 'maxFruitless',
  'continuation.maxUnshortened': 'maxUnshortened',
  'continuation.maxInjections': 'maxInjections',
}

function limited(key: SettingsKey, value: unknown, { limits }: UserSettings): unknown {
  const name = LIMITED[key]
  const most = name && limits?.[name]
  return most !== undefined && typeof value === 'number' ? Math.min(value, most) : value
}

function set(settings: Record<string, unknown>, key: SettingsKey, value: unknown): void {
  const [first, second] = key.split('.') as [string, string?]
  if (second === undefined) settings[first] = value
  else settings[first] = { ...(settings[first] as Record<string, unknown> | undefined), [second]: value }
}

const HIDDEN = '***'

function withoutPassword(store: string): string {
  const [, scheme, rest] = /^(postgres(?:ql)?:\/\/)(.*)$/s.exec(store) ?? []
  if (scheme === undefined || rest === undefined) return store
  // Where the URL is none, nobody knows where its password ends; it leads nowhere, so no host is hidden either.
  const authority = URL.canParse(store) ? /^[^/?#]*/.exec(rest)![0] : rest
  const end = authority.lastIndexOf('@')
  const colon = authority.indexOf(':')
  const shown =
    end > colon && colon !== -1 ? `${authority.slice(0, colon)}:${HIDDEN}${authority.slice(end)}` : authority
  return `${scheme}${shown}${rest.slice(authority.length)}`.replace(
    /([?&])([^=&#]*)=[^&#]*/g,
    (parameter, mark: string, name: string) => (isSecret(name) ? `${mark}${name}=${HIDDEN}` : parameter),
  )
}

/** A name may be written with percent signs. */
function isSecret(name: string): boolean {
  return [...new URLSearchParams(`${name}=`).keys()].some(key => /password/i.test(key))
}
