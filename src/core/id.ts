/** A new id: a UUID that sorts by time, so that an index of ids grows at its end. */
export function newId(): string {
  // The first releases of Node 24 do not have it.
  const { randomUUID, randomUUIDv7 }: Partial<Crypto> & Pick<Crypto, 'randomUUID'> = crypto()
  return (randomUUIDv7 ?? randomUUID)()
}

export function digest(text: string): string {
  return crypto().hash('sha256', text)
}

/** The same with a secret: who does not have it cannot make it. */
export function keyedDigest(secret: string, text: string): string {
  return crypto().createHmac('sha256', secret).update(text).digest('hex')
}

/** The same for what comes in pieces. */
export function newDigest(): Hash {
  return crypto().createHash('sha256')
}

// Loaded when first used: it costs a sixth of a start, and most commands only read.
function crypto(): Crypto {
  return process.getBuiltinModule('node:crypto')
}

type Crypto = typeof import('node:crypto')
type Hash = import('node:crypto').Hash
