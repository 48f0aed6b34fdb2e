type Environment = Readonly<Record<string, string | undefined>>

/**
 * Takes the values of secret variables out of a text, as they are and as JSON
 * writes them. A variable is secret by its name.
 */
export function concealing(env: Environment): (text: string) => string {
  const values = new Set(Object.entries(env).flatMap(([name, value = '']) => (isSecret(name) ? formsOf(value) : [])))
  if (values.size === 0) return text => text
  // The longest first: one may be the beginning of another.
  const all = [...values].toSorted((one, other) => other.length - one.length).map(literally)
  const pattern = new RegExp(all.join('|'), 'g')
  return text => text.replace(pattern, '[redacted]')
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The same for every text in a value. */
export function concealedIn<T>(value: T, conceal: (text: string) => string): T {
  if (typeof value === 'string') return conceal(value) as T
  if (Array.isArray(value)) return value.map(each => concealedIn<unknown>(each, conceal)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, concealedIn<unknown>(each, conceal)]),
  ) as T
}

const WORDS = 'KEYS?|TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PASS|PAT|CREDENTIALS?'
const SECRET = new RegExp(`(?:^|_)(?:${WORDS})(?:_|$)|(?:API|ACCESS|PRIVATE)KEY|(?:TOKEN|SECRET|PASSWORD)$`, 'i')
/** What a variable about a secret ends with that holds none. */
const NONE = /_(?:FILE|PATH|DIR|SOCK|TIMEOUT|TTL|MS|SECONDS|LENGTH|SIZE|LIMIT|COUNT|NAME|USER|HELPER|ENABLED|STORE)$/i

function isSecret(name: string): boolean {
  return SECRET.test(name) && !NONE.test(name)
}

/** Shorter values are ordinary words and numbers. */
const SHORTEST = 6
const SHORTEST_LINE = 16

/** A value, and of one that has several lines each line: output is looked at line by line. */
function formsOf(value: string): string[] {
  const text = value.trim()
  if (text.length < SHORTEST || (/^\d+$/.test(text) && text.length < 8) || /^(?:true|false)$/i.test(text)) return []
  const lines = text.includes('\n') ? text.split(/\r?\n/).filter(line => line.length >= SHORTEST_LINE) : []
  return [text, ...lines].flatMap(each => [each, JSON.stringify(each).slice(1, -1)])
}
