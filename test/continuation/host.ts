import {
  createTodoContinuationHook,
  type Standing,
  type TodoContinuationOptions,
} from '../../src/continuation/index.ts'
import { VirtualClock } from './clock.ts'

export interface Item {
  content: string
  status: string
}

/** What an agent does with its list when it is spoken to, whoever speaks. */
export type Agent = (items: Item[], turn: number) => { readonly tools?: number; readonly error?: string } | void

interface Manner {
  /** Whether the call that sends a prompt settles only when the whole turn is over. */
  readonly slowPrompts?: boolean
  /** How often a stop is told. */
  readonly idles?: number
  /** Whether events about messages show the text. */
  readonly texts?: boolean
  readonly brokenPrompts?: boolean
}

/**
 * A host with one session and an agent in it, in virtual time. It tells what
 * real ones tell: a message of the user without its text, once more with
 * details after the turn, tools as they run, the end of the turn.
 */
export class SimulatedHost {
  readonly clock = new VirtualClock()
  readonly injections: number[] = []
  readonly items: Item[]
  readonly kept = new Map<string, Standing>()
  off: 'session' | 'all' | null = null
  #hook
  #turn = 0
  #busy = false
  #ended: { name: string } | undefined
  #life = 0
  readonly #agent: Agent
  readonly #manner: Manner
  readonly #options: TodoContinuationOptions

  constructor(items: number, agent: Agent, manner: Manner = {}, options: TodoContinuationOptions = {}) {
    this.items = Array.from({ length: items }, (_, n) => ({ content: `item ${n + 1}`, status: 'pending' }))
    this.#agent = agent
    this.#manner = manner
    this.#options = options
    this.#hook = this.#hooked()
  }

  /** The user writes, and the agent sets to work. */
  speaks(text = 'go on'): void {
    void this.#turnOf(text)
  }

  /** The process ends in the middle of whatever it does, and another takes the session up. */
  restarts(): void {
    this.#life++
    this.clock.forget()
    this.#busy = false
    this.#hook = this.#hooked()
  }

  async hours(count: number): Promise<void> {
    await this.clock.pass(count * 3_600_000)
  }

  /** As when the window is closed and opened again: the host says once more that nothing happens. */
  idlesAgain(): void {
    if (!this.#busy) this.#tell('session.idle')
  }

  get open(): number {
    return this.items.filter(({ status }) => status === 'pending').length
  }

  #hooked() {
    const life = this.#life
    // What a process that is gone still had to say is never heard.
    const answered = <T>(answer: () => T) =>
      new Promise<T>(done => this.clock.setTimeout(() => void (life === this.#life && done(answer())), 20))
    return createTodoContinuationHook({
      clock: this.clock,
      getTodos: () => answered(() => this.items.map(item => ({ ...item }))),
      getMessages: () => answered(() => [{ role: 'assistant', error: this.#ended }]),
      getAgentInfo: () => answered(() => ({ agent: 'build', hasWritePermission: true })),
      isStopped: () => answered(() => this.off),
      memory: {
        load: id => answered(() => this.kept.get(id)),
        save: (id, standing) => answered(() => void this.kept.set(id, standing)),
      },
      injectPrompt: async (_, prompt) => {
        this.injections.push(this.clock.now())
        if (this.#manner.brokenPrompts) throw new Error('503')
        const turn = this.#turnOf(prompt)
        if (this.#manner.slowPrompts) await turn
      },
      ...this.#options,
    })
  }

  async #turnOf(text: string): Promise<void> {
    const life = this.#life
    const number = ++this.#turn
    const gone = () => life !== this.#life
    const created = this.clock.now()
    const info = { id: `msg_${number}`, role: 'user', time: { created }, ...(this.#manner.texts ? { text } : {}) }
    this.#busy = true
    this.#ended = undefined
    this.#tell('message.updated', { info })
    await this.#sleep(3_000)
    if (gone()) return
    this.#tell('message.updated', { info: { role: 'assistant', time: { created: this.clock.now() } } })
    const { tools = 2, error } = this.#agent(this.items, number) ?? {}
    for (let n = 0; n < tools && !gone(); n++) {
      this.#tell('tool.before')
      await this.#sleep(10_000)
      if (!gone()) this.#tell('tool.after')
    }
    if (gone()) return
    if (error) {
      this.#ended = { name: error }
      this.#tell('session.error', { error: this.#ended })
    }
    this.#busy = false
    for (let n = 0; n < (this.#manner.idles ?? 1); n++) this.#tell('session.idle')
    await this.#sleep(300)
    // Hosts add a summary to what the user said, long after it was said.
    if (!gone()) this.#tell('message.updated', { info })
  }

  /** Nobody waits for what a hook makes of it. */
  #tell(event: string, data?: unknown): void {
    void this.#hook.handler({ event, sessionId: 'ses_1', data })
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise(done => this.clock.setTimeout(done, milliseconds))
  }
}
