type Path = readonly string[]
type Container = Record<string, unknown>

/** Every place in a JSON value, the value itself first. */
export function placesIn(value: unknown, at: Path = []): Path[] {
  if (value === null || typeof value !== 'object') return [at]
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...at, key]))]
}

/** A JSON value with one place changed; `undefined` takes away what was there. */
export function mutated(value: unknown, [key, ...rest]: Path, change: (before: unknown) => unknown): unknown {
  if (key === undefined) return change(value)
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as Container) }) as Container
  const changed = mutated(copy[key], rest, change)
  if (changed !== undefined) copy[key] = changed
  else if (Array.isArray(copy)) copy.splice(Number(key), 1)
  else delete copy[key]
  return copy
}

/** The same object with a key more that no literal could give it, as `JSON.parse` does. */
export function withKey(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const own = isObject ? JSON.stringify(value).slice(1, -1) : ''
  return JSON.parse(`{${[own, `${JSON.stringify(key)}:{"x":1}`].filter(Boolean).join(',')}}`)
}

/** Lists in lists, so deep that a function which calls itself for each exhausts the stack. */
export function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
}
