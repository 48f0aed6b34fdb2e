import {
  type Answers,
  DEFAULT_CONFIG,
  type Effect,
  NEW_SESSION,
  react,
  type SessionState,
  type Signal,
  type TodoContinuationConfig,
  UNTOUCHED,
} from '../../src/continuation/index.ts'

export const OPEN: Answers = {
  work: { open: 2, waiting: 0, completed: 1, total: 3 },
  ended: null,
  off: null,
  background: 0,
  asked: false,
  agent: 'build',
  mayWrite: true,
  planning: false,
  standing: UNTOUCHED,
}

/** One session at the reducer's desk: what it is told, and what is to be done about it. */
export class Desk {
  state: SessionState = NEW_SESSION
  effects: readonly Effect[] = []
  readonly config: TodoContinuationConfig

  constructor(config: Partial<TodoContinuationConfig> = {}) {
    this.config = { ...DEFAULT_CONFIG, ...config }
  }

  /** Returns the words for what is to be done, without what is only logged. */
  tell(signal: Signal): string[] {
    const { state, effects } = react(this.state, signal, this.config)
    this.state = state
    this.effects = effects
    return effects.map(({ type }) => type).filter(type => type !== 'log')
  }

  idle(at: number): string[] {
    return this.tell({ type: 'idle', at })
  }

  answer(at: number, answers: Partial<Answers> = {}): string[] {
    return this.tell({ type: 'answered', at, generation: this.state.generation, answers: { ...OPEN, ...answers } })
  }

  wake(at: number): string[] {
    return this.tell({ type: 'woken', at, generation: this.state.generation })
  }

  saved(at: number, ok = true): string[] {
    return this.tell({ type: 'saved', at, generation: this.state.generation, ok })
  }

  sent(at: number, ok = true): string[] {
    return this.tell({ type: 'sent', at, generation: this.state.inFlight!, ok })
  }

  /** Why it is left alone, as the log has it. */
  get why(): string | undefined {
    return this.effects.findLast(effect => effect.type === 'log')?.why
  }

  get alarm(): number | undefined {
    return this.effects.findLast(effect => effect.type === 'wake')?.at
  }

  /** From an idle to the injection, if there is one. */
  run(at: number, answers: Partial<Answers> = {}): string[] {
    const seen = this.idle(at)
    if (this.state.mode === 'asking') seen.push(...this.answer(at, answers))
    if (this.state.mode === 'counting') seen.push(...this.wake(at + 1000), ...this.wake(at + 2000))
    if (this.state.mode === 'confirming') seen.push(...this.answer(at + 2000, answers))
    if (this.state.mode === 'saving') seen.push(...this.saved(at + 2000))
    return seen
  }
}

/** Sessions in each of the ways that lead to an injection. */
export const ON_THE_WAY: Readonly<Record<string, () => Desk>> = {
  'while the facts are gathered': () => desk(one => one.idle(100)),
  'during the countdown': () => desk(one => (one.idle(100), one.answer(100), one.wake(1100))),
  'while the facts are gathered again': () => desk(one => (one.idle(100), one.answer(100), one.wake(2100))),
  'while the budget is written down': () =>
    desk(one => (one.idle(100), one.answer(100), one.wake(2100), one.answer(2100))),
}

export function desk(prepared: (one: Desk) => unknown, config: Partial<TodoContinuationConfig> = {}): Desk {
  const one = new Desk(config)
  prepared(one)
  return one
}
