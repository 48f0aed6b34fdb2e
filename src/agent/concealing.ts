/** Takes a key out of texts, wherever it turns up. */
export type Conceal = (text: string) => string

const INSTEAD = '[redacted]'
/** Shorter ones are no secret, and would be found in ordinary words. */
const SHORTEST = 8

export function concealing(key: string | undefined): Conceal {
  return key === undefined || key.length < SHORTEST ? text => text : text => text.replaceAll(key, INSTEAD)
}

/** The same for a text that comes in pieces: what may be the beginning of the key waits for the next piece. */
export class ConcealedStream {
  private readonly key: string
  private readonly tell: (text: string) => void
  private held = ''

  constructor(key: string | undefined, tell: (text: string) => void) {
    this.key = key === undefined || key.length < SHORTEST ? '' : key
    this.tell = tell
  }

  push(text: string): void {
    const whole = this.key === '' ? this.held + text : (this.held + text).replaceAll(this.key, INSTEAD)
    const waits = this.waiting(whole)
    this.held = whole.slice(whole.length - waits)
    this.say(whole.slice(0, whole.length - waits))
  }

  end(): void {
    const rest = this.held
    this.held = ''
    this.say(rest)
  }

  private say(text: string): void {
    if (text !== '') this.tell(text)
  }

  /** How many characters at the end must wait: the start of a key, or half a character. */
  private waiting(text: string): number {
    for (let length = Math.min(this.key.length - 1, text.length); length > 0; length--) {
      if (text.endsWith(this.key.slice(0, length))) return length
    }
    return /[\uD800-\uDBFF]$/.test(text) ? 1 : 0
  }
}
