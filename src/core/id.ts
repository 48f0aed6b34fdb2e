/** A new id: a UUID that sorts by time, so that an index of ids grows at its end. */
export function newId(): string {
  // The first releases of Node 24 do not have it.
  const { randomUUID, randomUUIDv7 = randomUUID } = crypto()
  return randomUUIDv7()
}

export function digest(text: string): string {
  return crypto().hash('sha256', text)
}

// Loaded when first used: it costs a sixth of a start, and most commands only read.
function crypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}
