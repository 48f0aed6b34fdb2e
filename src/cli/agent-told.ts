import { ConcealedStream, concealing } from '../agent/concealing.ts'
import type { Endpoint } from '../agent/endpoint.ts'
import { gaveNoAnswer } from '../agent/failing.ts'
import { items, progressLine } from '../agent/progress.ts'
import { stopCommands } from '../core/check.ts'
import { Problem } from '../core/problem.ts'
import { harmless, jsonText } from '../core/text.ts'
import type { Left, SupervisorEvent, TurnResult } from '../supervisor/events.ts'
import { Stop } from './stopping.ts'
import type { Terminal } from './terminal.ts'

interface Telling {
  readonly terminal: Terminal
  readonly endpoint: Endpoint
  readonly conversationId: string
  readonly turnId: string
  /** Whether the conversation begins with this turn. */
  readonly isNew: boolean
  readonly json: boolean
  readonly quiet: boolean
}

/** What a person or a program learns of an agent's turn: the answer on standard output, how it goes on standard error. */
export class AgentTold {
  private readonly telling: Telling
  private readonly answer: ConcealedStream
  private atLineStart = true
  private calls = 0
  private left: { readonly remaining: number; readonly left: readonly Left[] } = { remaining: 0, left: [] }

  constructor(telling: Telling) {
    this.telling = telling
    this.answer = new ConcealedStream(telling.endpoint.key, text => this.print(harmless(text)))
  }

  begin(): void {
    // Also when nobody reads the answer any more, and the process ends at once.
    process.once('exit', stopCommands)
    if (this.telling.isNew) this.remark(`conversation ${this.telling.conversationId}`)
  }

  over(): void {
    stopCommands()
    process.off('exit', stopCommands)
  }

  hear(event: SupervisorEvent): void {
    if (event.type === 'call_started') this.calls = event.call
    if (event.type === 'turn_failed') this.left = event
    if (event.type === 'text' && event.answer && !this.telling.json) this.answer.push(event.text)
    const line = progressLine(event)
    if (line !== undefined) this.remark(line)
  }

  remark(text: string): void {
    const { terminal, quiet, json, endpoint } = this.telling
    // Programs find a refusal on standard error, and nothing beside it.
    if (quiet || json) return
    // Where both go to one screen, a line does not begin amid the answer.
    if (!this.atLineStart && terminal.colour) this.print('\n')
    terminal.err(harmless(concealing(endpoint.key)(text)))
  }

  end({ text, left, remaining, calls, usage, end }: TurnResult): number {
    const { terminal, json, conversationId: conversation, turnId: turn } = this.telling
    this.endLine()
    if (json) terminal.out(jsonText({ conversation, turn, text, left, remaining, calls, usage, end }))
    if (end === 'answered') return 0
    throw this.workLeft(`The calls of this turn, ${calls}, are used up`, left, remaining)
  }

  /** The exit status of a turn that was stopped; everything else is thrown as what it is. */
  fail(error: unknown, { by, late }: Stop): number {
    this.endLine()
    const { terminal, endpoint, json, conversationId: conversation, turnId: turn } = this.telling
    const { remaining, left } = this.left
    if (error instanceof Problem && (error.code === 'work_left' || (!by && late === undefined)))
      throw this.located(error)
    if (by) {
      const document = { conversation, turn, text: '', left, remaining, calls: this.calls, end: by }
      if (json) terminal.out(jsonText(document))
      else terminal.err(`Stopped. ${items(remaining)} left. ${this.howOn()}`)
      return Stop.STATUS[by]
    }
    if (late === undefined) throw error
    if (remaining === 0) throw this.located(gaveNoAnswer(endpoint, late))
    throw this.workLeft(`The time of this turn, ${late}, is used up`, left, remaining)
  }

  private workLeft(fact: string, left: readonly Left[], remaining: number): Problem {
    const open = remaining - left.filter(({ needs }) => needs !== null).length
    const rest =
      open === 0 ? 'before it had answered' : open === 1 ? 'and 1 item is open' : `and ${open} items are open`
    return this.located(new Problem('work_left', `${fact}, ${rest}`, this.howOn(), { remaining, left }))
  }

  private located({ code, message, hint, details }: Problem): Problem {
    const { conversationId: conversation, turnId: turn } = this.telling
    const further = code === 'model_failed' ? `${hint} ${this.howOn()}` : hint
    return new Problem(code, message, further, { conversation, turn, ...details })
  }

  private howOn(): string {
    const { conversationId } = this.telling
    const plain = /^[\w.:@%+=,/-]+$/.test(conversationId)
    const id = plain ? conversationId : `'${conversationId.replaceAll("'", String.raw`'\''`)}'`
    return `Carry it on with: punchlist agent --conversation ${id} "go on"`
  }

  private print(text: string): void {
    if (text === '') return
    this.telling.terminal.print(text)
    this.atLineStart = text.endsWith('\n')
  }

  private endLine(): void {
    this.answer.end()
    if (!this.atLineStart) this.print('\n')
  }
}
