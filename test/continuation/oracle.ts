import type { TodoContinuationConfig } from '../../src/continuation/index.ts'
import { FAILED, type Seen } from './ordeal.ts'

/**
 * Reads a record of what happened and finds the first injection that should
 * not have been, by the promises made to users and by nothing else.
 */
export function complaint(trace: readonly Seen[], config: TodoContinuationConfig): string | undefined {
  const book = new Book(config)
  for (const seen of trace) {
    const wrong = seen.do === 'inject' ? book.objection(seen.at, seen.prompt) : undefined
    if (wrong) return `${wrong}, at ${seen.at}`
    book.note(seen)
  }
  return undefined
}

class Book {
  readonly #config: TodoContinuationConfig
  #deleted = false
  /** When it came to rest, unless it has been at work since. */
  #idleAt: number | undefined
  #lastRest = Number.NEGATIVE_INFINITY
  #sinceUser = 0
  #injections: { readonly completed: number; readonly open: number; readonly decidedAt: number }[] = []
  #stumbled: 'aborted' | 'error' | undefined
  #recoveringSince: number | undefined
  #underWay: number | undefined
  #agentLost = false
  #answers: Record<string, { readonly at: number; readonly value: unknown }> = {}

  constructor(config: TodoContinuationConfig) {
    this.#config = config
  }

  objection(at: number, prompt: string): string | undefined {
    const { countdownSeconds, maxInjections, maxFruitless, maxUnshortened, skipAgents } = this.#config
    if (this.#deleted) return 'injected into a deleted session'
    if (this.#idleAt === undefined) return 'injected over somebody who had stepped in'
    if (at < this.#idleAt + countdownSeconds * 1000) return 'injected before the countdown was over'
    if (this.#underWay !== undefined) return 'injected twice at once'
    if (this.#stumbled) return `injected after ${this.#stumbled}`
    if (this.#recoveringSince !== undefined && at < this.#recoveringSince + 300_000) return 'injected while recovering'
    if (this.#sinceUser >= maxInjections) return 'injected beyond the budget'
    if (this.#run().length >= maxFruitless) return 'injected once more without progress'
    if (this.#sinceShorter() >= Math.max(maxUnshortened, maxFruitless)) return 'injected with as much open as before'
    const last = this.#run().at(-1)
    if (last && at < last.decidedAt + 5000 * 2 ** (this.#run().length - 1)) return 'injected without waiting'
    const fresh = ['getTodos', 'isStopped', 'getBackgroundTaskCount', 'getAgentInfo', 'getMessages', 'save']
    const stale = fresh.find(option => !((this.#answers[option]?.at ?? 0) >= this.#idleAt! + countdownSeconds * 1000))
    if (stale) return `injected on an old answer of ${stale}`
    const failed = fresh.find(option => this.#answer(option) === FAILED)
    if (failed) return `injected though ${failed} had failed`
    if (this.#answer('isStopped') !== null) return 'injected though switched off'
    if (this.#answer('getBackgroundTaskCount') !== 0) return 'injected while background work was running'
    const info = this.#answer('getAgentInfo') as { agent?: string; hasWritePermission?: boolean } | null
    if (info?.hasWritePermission === false) return 'injected though it may not write'
    if (skipAgents.includes(info?.agent ?? '')) return 'injected into an agent that plans'
    if (this.#agentLost && info?.agent === undefined) return 'injected into an agent that nobody knows'
    const { completed, total } = this.#list()
    if (completed === total) return 'injected with nothing open'
    const status = `[Status: ${completed}/${total} completed, ${total - completed} remaining]`
    return prompt.includes(status) ? undefined : 'injected what is not so'
  }

  note(seen: Seen): void {
    switch (seen.do) {
      case 'inject':
        this.#sinceUser++
        this.#underWay = seen.number
        this.#injections.push({ ...this.#list(), decidedAt: this.#answers['isStopped']!.at })
        break
      case 'settled':
        if (this.#underWay === seen.number) this.#underWay = undefined
        break
      case 'answered':
        this.#answers[seen.option] = seen
        if (seen.value !== FAILED && seen.option === 'getAgentInfo' && (seen.value as { agent?: string } | null)?.agent)
          this.#agentLost = false
        break
      case 'idle':
        this.#idleAt ??= seen.at
        this.#lastRest = seen.at
        break
      case 'tool':
        this.#idleAt = undefined
        break
      case 'user':
        if (seen.when === 'old') break
        this.#sinceUser = 0
        this.#injections = []
        this.#stumbled = undefined
        // Just after a rest, one that does not say when it was written may be an echo: nobody can know.
        if (seen.when === 'now' || seen.at - this.#lastRest >= this.#config.gracePeriod) this.#idleAt = undefined
        break
      case 'assistant':
        if (seen.error !== undefined) this.#stumble(seen.error, seen.at)
        else if (seen.when !== 'old') {
          this.#idleAt = undefined
          if (this.#stumbled === 'aborted') this.#stumbled = undefined
        }
        break
      case 'error':
        this.#stumble(seen.error, seen.at)
        break
      case 'deleted':
        this.#deleted = true
        break
      case 'compacted':
        this.#agentLost = true
        break
      case 'recovering':
        this.#recoveringSince = seen.at
        break
      case 'recovered':
        if (this.#recoveringSince !== undefined && this.#stumbled === 'error') this.#stumbled = undefined
        this.#recoveringSince = undefined
        break
      case 'restart':
        // What only the process knew is gone with it; what the user was promised is not.
        this.#underWay = undefined
        this.#idleAt = undefined
        this.#recoveringSince = undefined
        this.#stumbled = undefined
        this.#agentLost = false
        this.#answers = {}
        break
      default:
    }
  }

  #stumble(error: string, at: number): void {
    const aborted = error === 'MessageAbortedError' || error === 'AbortError'
    if (this.#stumbled !== 'error') this.#stumbled = aborted ? 'aborted' : 'error'
    if (this.#idleAt === undefined) this.#lastRest = at
  }

  /** The last injections between which nothing was finished. */
  #run() {
    const { completed } = this.#list()
    return this.#injections.filter(one => one.completed === completed)
  }

  /** How many injections there were since the list was last shorter than at the one before. */
  #sinceShorter(): number {
    const opens = [...this.#injections.map(({ open }) => open), this.#list().open]
    const shorter = opens.findLastIndex((open, nth) => nth > 0 && open < opens[nth - 1]!)
    return opens.length - 1 - Math.max(shorter, 0)
  }

  #list(): { completed: number; open: number; total: number } {
    const answer = this.#answer('getTodos')
    const todos = (Array.isArray(answer) ? answer : []) as { status: string }[]
    const completed = todos.filter(({ status }) => status === 'completed').length
    return { completed, open: todos.length - completed, total: todos.length }
  }

  #answer(option: string): unknown {
    return this.#answers[option]?.value
  }
}
