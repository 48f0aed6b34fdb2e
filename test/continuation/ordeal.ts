import {
  createTodoContinuationHook,
  type Standing,
  type TodoContinuationConfig,
  type TodoContinuationOptions,
} from '../../src/continuation/index.ts'
import { settled, VirtualClock } from './clock.ts'

/** One thing that happens to a session, or to the process that looks after it. */
export type Step =
  | { readonly do: 'pass'; readonly milliseconds: number }
  | { readonly do: 'idle' | 'tool' | 'compacted' | 'deleted' | 'recovering' | 'recovered' | 'background_settled' }
  | { readonly do: 'user'; readonly when: When; readonly text: boolean }
  | { readonly do: 'assistant'; readonly when: When; readonly error: string | undefined }
  | { readonly do: 'error'; readonly error: string }
  | { readonly do: 'finish' | 'add' | 'reword' }
  | { readonly do: 'background'; readonly count: number }
  | { readonly do: 'switch'; readonly off: 'session' | 'all' | null }
  | { readonly do: 'agent'; readonly info: { agent?: string; hasWritePermission?: boolean } | null }
  /** From now on answers are given only when it is said so. */
  | { readonly do: 'hold' }
  | { readonly do: 'release'; readonly which: number; readonly fails: boolean; readonly kept: boolean }
  | { readonly do: 'release_all' }
  | { readonly do: 'restart'; readonly kept: boolean }
  /** Whether what is to be remembered can be written. */
  | { readonly do: 'memory'; readonly works: boolean }

/** `old`: one that has been told before, told again after the session came to rest. */
export type When = 'now' | 'old' | 'unsaid'

/** What could be seen from outside, in order. */
export type Seen = { readonly at: number } & (
  | Exclude<Step, { readonly do: 'hold' | 'release' | 'release_all' | 'pass' }>
  | { readonly do: 'answered'; readonly option: string; readonly value: unknown }
  | { readonly do: 'inject'; readonly prompt: string; readonly number: number }
  | { readonly do: 'settled'; readonly number: number }
)

const SESSION = 'ses_1'

/** The value of an answer that was none. */
export const FAILED = Symbol('failed')

/** A host in which anything may happen at any time, and a record of what did. */
export class Ordeal {
  readonly trace: Seen[] = []
  readonly clock = new VirtualClock()
  readonly #config: Partial<TodoContinuationConfig>
  readonly #slow: boolean
  readonly #kept = new Map<string, Standing>()
  readonly #todos = [{ content: 'first', status: 'pending' }]
  #held: Held[] = []
  #holding = false
  #remembers = true
  #background = 0
  #off: 'session' | 'all' | null = null
  #info: unknown = { agent: 'build', hasWritePermission: true }
  #lastError: { name: string } | undefined
  /** The end of the last stretch of work; undefined in the middle of one. */
  #restedAt: number | undefined
  #beganAt = 0
  #works = 0
  #userAt = 0
  /** When the user wrote what is told again: not after the session came to rest. */
  #oldAt = 0
  #injections = 0
  #life = 0
  #hook

  /** `slow`: a prompt settles only when it is released, whatever else is answered at once. */
  constructor(config: Partial<TodoContinuationConfig>, slow = false) {
    this.#config = config
    this.#slow = slow
    this.#hook = this.#hooked()
  }

  async take(step: Step): Promise<void> {
    // No two things happen in the same millisecond.
    await this.clock.pass(1)
    if (!['hold', 'release', 'release_all', 'pass'].includes(step.do)) this.#see(step as Seen)
    const works = step.do === 'tool' || ((step.do === 'user' || step.do === 'assistant') && step.when !== 'old')
    if (works) this.#work()
    await this.#happen(step)
    await settled()
  }

  async #happen(step: Step): Promise<unknown> {
    switch (step.do) {
      case 'pass':
        return await this.clock.pass(step.milliseconds)
      case 'idle':
        this.#restedAt ??= this.clock.now()
        return this.#tell('session.idle')
      case 'tool':
        return this.#tell('tool.before')
      case 'compacted':
      case 'deleted':
        return this.#tell(`session.${step.do}`)
      case 'recovering':
        return this.#hook.markRecovering(SESSION)
      case 'recovered':
        return this.#hook.markRecoveryComplete(SESSION)
      case 'background_settled':
        return this.#hook.markBackgroundSettled(SESSION)
      case 'user':
        return this.#tell('message.updated', {
          info: { role: 'user', ...this.#written(step.when), ...(step.text ? { text: 'well' } : {}) },
        })
      case 'assistant': {
        const error = step.error === undefined ? undefined : { name: step.error }
        this.#lastError = error
        return this.#tell('message.after', { info: { role: 'assistant', ...this.#created(step.when), error } })
      }
      case 'error':
        return this.#tell('session.error', { error: { name: step.error } })
      case 'finish': {
        const open = this.#todos.find(({ status }) => status !== 'completed')
        return open && (open.status = 'completed')
      }
      case 'add':
        return this.#todos.push({ content: 'another', status: 'pending' })
      case 'reword':
        return this.#todos.forEach(todo => {
          todo.content += '!'
          if (todo.status !== 'completed') todo.status = todo.status === 'pending' ? 'in_progress' : 'pending'
        })
      case 'background':
        return (this.#background = step.count)
      case 'switch':
        return (this.#off = step.off)
      case 'agent':
        return (this.#info = step.info)
      case 'hold':
        return (this.#holding = true)
      case 'memory':
        return (this.#remembers = step.works)
      case 'release':
        return this.#held.splice(step.which % (this.#held.length || 1), 1)[0]?.(step.fails, step.kept)
      case 'release_all':
        return await this.#releaseAll()
      case 'restart':
    }
    return this.#restart(step.kept)
  }

  async #releaseAll(): Promise<void> {
    this.#holding = false
    while (this.#held.length > 0) {
      this.#held.shift()!(false, true)
      await settled()
    }
  }

  /** `kept`: whether what was being written at that moment has been. */
  #restart(kept: boolean): void {
    for (const held of this.#held.splice(0)) held(true, kept)
    this.#life++
    this.clock.forget()
    this.#hook = this.#hooked()
  }

  #hooked() {
    const life = this.#life
    const answered = <T>(option: string, value: () => T, write?: () => void) =>
      new Promise<T>((done, fail) => {
        const give: Held = (fails, kept) => {
          const broken = fails || (write !== undefined && !this.#remembers)
          if (!broken || kept) write?.()
          if (life !== this.#life) return
          const answer = broken ? FAILED : value()
          this.#see({ do: 'answered', option, value: answer })
          if (answer === FAILED) fail(new Error(option))
          else done(answer)
        }
        if (this.#holding || (this.#slow && option === 'injectPrompt')) this.#held.push(give)
        else give(false, true)
      })
    const options: TodoContinuationOptions = {
      config: this.#config,
      clock: this.clock,
      getTodos: () => answered('getTodos', () => this.#todos.map(todo => ({ ...todo }))),
      getMessages: () => answered('getMessages', () => [{ role: 'assistant', error: this.#lastError }]),
      getBackgroundTaskCount: () => answered('getBackgroundTaskCount', () => this.#background),
      getAgentInfo: () => answered('getAgentInfo', () => this.#info as null),
      isStopped: () => answered('isStopped', () => this.#off),
      memory: {
        load: id => answered('load', () => this.#kept.get(id)),
        save: (id, standing) =>
          answered(
            'save',
            () => undefined,
            () => void this.#kept.set(id, standing),
          ),
      },
      async injectPrompt(_, prompt) {
        await inject(prompt)
      },
    }
    const inject = async (prompt: string) => {
      const number = ++this.#injections
      const restedAt = this.#restedAt
      const works = this.#work()
      this.#see({ do: 'inject', prompt, number })
      try {
        await answered('injectPrompt', () => undefined)
      } catch (error) {
        // It never began to work.
        if (works === this.#works) this.#restedAt ??= restedAt
        throw error
      } finally {
        this.#see({ do: 'settled', number })
      }
    }
    return createTodoContinuationHook(options)
  }

  #work(): number {
    if (this.#restedAt !== undefined) this.#beganAt = this.#restedAt
    this.#restedAt = undefined
    return ++this.#works
  }

  #created(when: When): object {
    if (when === 'unsaid') return {}
    return { time: { created: when === 'now' ? this.clock.now() : (this.#restedAt ?? this.#beganAt) } }
  }

  #written(when: When): object {
    if (when !== 'old') this.#userAt = this.clock.now()
    const until = this.#restedAt ?? this.#beganAt
    if (this.#userAt <= until) this.#oldAt = this.#userAt
    return when === 'old' ? { time: { created: this.#oldAt } } : this.#created(when)
  }

  #tell(event: string, data?: unknown): void {
    void this.#hook.handler({ event, sessionId: SESSION, data })
  }

  #see(seen: Seen | Omit<Extract<Seen, { do: 'answered' | 'inject' | 'settled' }>, 'at'>): void {
    this.trace.push({ ...seen, at: this.clock.now() } as Seen)
  }
}

type Held = (fails: boolean, kept: boolean) => void
