import { EventEmitter } from 'node:events'
import type { Client } from 'pg'

/** A notice is sent only for what becomes claimable; everything else is seen at the next look. */
const LOOK_MS = 500

/** Hears the server's notices for all who wait in this process, over one connection that is made with the first of them. */
export class Listener {
  private readonly connect: () => Promise<Client>
  private readonly channel: string
  private readonly bell = new EventEmitter().setMaxListeners(0)
  private readonly heard: () => void
  private client: Promise<Client | undefined> | undefined
  private closed = false

  /** `heard` is told of every notice, whether anyone waits or not. */
  constructor(connect: () => Promise<Client>, channel: string, heard: () => void) {
    this.connect = connect
    this.channel = channel
    this.heard = heard
  }

  /** Waits until `ready` or until the time is over. A look that fails is one that saw nothing. */
  async wait(ready: () => Promise<boolean>, ms: number, signal?: AbortSignal): Promise<void> {
    const end = performance.now() + ms
    let look: Promise<boolean> | undefined
    while (!signal?.aborted && !this.closed) {
      const left = end - performance.now()
      if (left <= 0) return
      this.client ??= this.listen()
      // Begun before the look, so that a notice that comes during it is not missed.
      const pause = this.pause(Math.min(left, LOOK_MS), signal)
      look ??= ready()
        .catch(() => false)
        .finally(() => {
          look = undefined
        })
      // A look at a server that does not answer must not outlast the time.
      const seen = await Promise.race([look, pause.over.then(() => false)])
      if (seen) return pause.end()
      // What a notice tells of is looked at by whoever waits, and needs no look of ours before.
      if ((await pause.over) === 'notice') return
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.bell.emit('look')
    const client = await this.client
    await client?.end()
  }

  private async listen(): Promise<Client | undefined> {
    let client: Client | undefined
    try {
      client = await this.connect()
      client.on('notification', () => {
        this.heard()
        this.bell.emit('notice')
      })
      client.on('end', () => {
        this.client = undefined
      })
      await client.query(`LISTEN "${this.channel}"`)
      // What happened before anybody listened.
      this.bell.emit('look')
      return client
    } catch {
      // The next one who waits tries again; until then looking remains.
      this.client = undefined
      await client?.end()
      return undefined
    }
  }

  private pause(ms: number, signal?: AbortSignal): { over: Promise<'notice' | 'look'>; end: () => void } {
    const { promise, resolve } = Promise.withResolvers<'notice' | 'look'>()
    const { bell } = this
    const notice = () => end('notice')
    const look = () => end('look')
    const timer = setTimeout(look, ms)
    bell.on('notice', notice)
    bell.on('look', look)
    signal?.addEventListener('abort', look)
    function end(why: 'notice' | 'look'): void {
      clearTimeout(timer)
      bell.off('notice', notice)
      bell.off('look', look)
      signal?.removeEventListener('abort', look)
      resolve(why)
    }
    return { over: promise, end: look }
  }
}
