import { open, type Punchlist } from '../../src/index.ts'
import {
  createSupervisor,
  type HandleOptions,
  type Message,
  type SupervisorEvent,
  type SupervisorOptions,
  type SupervisorTurn,
  type TurnResult,
} from '../../src/supervisor/index.ts'
import { scratch } from '../support/scratch.ts'
import { type Cue, scripted } from '../support/scripted-model.ts'

/** A store that is gone when the test is. */
export async function aList(store = 'sqlite::memory:'): Promise<Punchlist> {
  return await open({ root: scratch(), store })
}

type Play = Partial<SupervisorOptions> & { readonly message?: Message; readonly how?: HandleOptions }

/** A turn of a scripted supervisor, to its end. */
export async function play(list: Punchlist, cues: readonly Cue[], { message, how, ...options }: Play = {}) {
  const model = scripted(...cues)
  const supervisor = createSupervisor({ model, store: list, ...options })
  const turn = supervisor.handleMessage(message ?? { id: 'm1', content: 'Do it' }, { conversationId: 'c', ...how })
  return { model, asked: model.doStreamCalls, ...(await ended(turn)) }
}

/** What came of a turn: its result or what it failed with, everything that it told, and what the user was shown. */
export async function ended(turn: SupervisorTurn) {
  const outcome = await turn.result.then(
    result => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  )
  const events = await heard(turn)
  const shown = events.flatMap(event => (event.type === 'text' && event.answer ? [event.text] : [])).join('')
  return { ...(outcome as { result: TurnResult; error: unknown }), events, shown, turn }
}

async function heard({ events }: SupervisorTurn): Promise<SupervisorEvent[]> {
  const seen: SupervisorEvent[] = []
  try {
    for await (const event of events) seen.push(event)
  } catch {
    // The failure that the turn is told to have had.
  }
  return seen
}

export function typesOf(events: readonly SupervisorEvent[]): string[] {
  return events.map(({ type }) => type)
}

export function told<T extends SupervisorEvent['type']>(events: readonly SupervisorEvent[], type: T) {
  return events.filter((event): event is Extract<SupervisorEvent, { type: T }> => event.type === type)
}

/** The plan of the turn that tests play, and what has become of it. */
export async function planIn(list: Punchlist, turnId = 'm1', conversationId = 'c') {
  return (await list.as({ conversationId, turnId }).plan.list({ status: 'all' })).items
}

export function planned(...titles: readonly string[]) {
  return { calls: [{ tool: 'create_todo', input: { items: titles.map(title => ({ title })) } }] }
}

/** A call of complete_todo, by place in the plan. */
export function completed(place: number, outcome = 'done') {
  return { tool: 'complete_todo', input: { todoId: String(place), outcome } }
}

export async function all<T>(stream: ReadableStream<T>): Promise<T[]> {
  const values: T[] = []
  for await (const value of stream) values.push(value)
  return values
}
