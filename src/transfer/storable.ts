import { Problem } from '../core/problem.ts'

/** Deeper than anything that a kind keeps, and far from what exhausts the stack of a function that calls itself. */
const DEEPEST = 32
/** Schemas pass over keys with these names. */
const RESERVED = new Set(['__proto__', 'prototype', 'constructor'])
const LONGEST_SHOWN = 100

interface Place {
  readonly value: unknown
  readonly at: readonly string[]
}

/**
 * Throws `bad_input` for what no engine keeps as it is: texts with NUL or half
 * of a character, reserved keys, values that JSON does not have, and lists in
 * lists without end. It does not call itself, so no document exhausts the stack.
 */
export function refuseUnstorable(document: unknown): void {
  const left: Place[] = [{ value: document, at: [] }]
  for (let place = left.pop(); place; place = left.pop()) {
    const { value, at } = place
    const why = at.length > DEEPEST ? 'is nested too deep' : complaint(value)
    if (why) throw refused(at, why)
    if (typeof value !== 'object' || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      const wrongKey = RESERVED.has(key) ? 'is no name of a field' : complaint(key)
      if (wrongKey) throw refused([...at, key], wrongKey)
      left.push({ value: inner, at: [...at, key] })
    }
  }
}

function complaint(value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) return 'has half of a character'
    return value.includes('\0') ? 'has a NUL character' : undefined
  }
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'is no finite number'
  const isJson = value === undefined || typeof value === 'boolean' || typeof value === 'object'
  return isJson ? undefined : `is a ${typeof value}`
}

function refused(at: readonly string[], why: string): Problem {
  const field = at.join('.').replaceAll('\0', '').toWellFormed().slice(0, LONGEST_SHOWN)
  return new Problem(
    'bad_input',
    `${field || 'The document'} ${why}`,
    'Import a document that punchlist export made; nothing was written.',
    { field },
  )
}
