import { list, record, text } from '../reading.ts'
import { shared } from '../sharing.ts'

/** As much of OpenCode's client as we use. It answers `{data}`, or `{error}`. */
export interface Client {
  readonly session: {
    get(of: Of): Promise<Got>
    messages(of: Of & { readonly query: { readonly limit: number } }): Promise<Got>
    status(): Promise<Got>
    promptAsync(of: Of & { readonly body: unknown }): Promise<Got>
  }
  readonly app: {
    agents(): Promise<Got>
    log(of: { readonly body: unknown }): Promise<unknown>
  }
  readonly tui: { showToast(of: { readonly body: unknown }): Promise<unknown> }
}

interface Of {
  readonly path: { readonly id: string }
}

interface Got {
  readonly data?: unknown
  readonly error?: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** Who is at work in a session, in the words of a prompt. */
export interface AtWork {
  readonly agent?: string
  readonly model?: unknown
  readonly variant?: unknown
}

/** What OpenCode says when asked. Rejects where it does not answer. */
export interface OpenCode {
  /** The session that started this one as a subagent. */
  parentOf(session: string): Promise<string | undefined>
  /** How many subagents of a session are at work. */
  busyBelow(session: string): Promise<number>
  /** The last messages of a session, without their parts. */
  messages(session: string): Promise<readonly Fields[]>
  atWork(session: string): Promise<AtWork>
  /** False where the rules of an agent say that it may not edit files. */
  mayWrite(agent: string): Promise<boolean>
  prompt(session: string, said: string, by: AtWork): Promise<void>
}

/** Each step of an agent is a message. */
const LAST = 10

export function openCode(client: Client): OpenCode {
  const parents = new Map<string, string | undefined>()

  async function parentOf(session: string): Promise<string | undefined> {
    if (!parents.has(session)) {
      const info = record(answered(await client.session.get({ path: { id: session } })))
      parents.set(session, text(info['parentID']))
    }
    return parents.get(session)
  }

  async function isBelow(session: string, above: string): Promise<boolean> {
    for (let at = await parentOf(session); at !== undefined; at = await parentOf(at)) if (at === above) return true
    return false
  }

  const { ask: messages } = shared(async session => {
    const got = answered(await client.session.messages({ path: { id: session }, query: { limit: LAST } }))
    return list(got).map(message => record(record(message)['info']))
  })

  return {
    parentOf,
    messages,

    async busyBelow(session) {
      // Sessions that do nothing are not in it.
      const busy = Object.entries(record(answered(await client.session.status())))
        .filter(([id, status]) => id !== session && record(status)['type'] !== 'idle')
        .map(([id]) => isBelow(id, session))
      return (await Promise.all(busy)).filter(Boolean).length
    },

    async atWork(session) {
      const last = (await messages(session)).findLast(
        ({ agent }) => text(agent) !== undefined && agent !== 'compaction',
      )
      return last ? workerOf(last) : {}
    },

    async mayWrite(agent) {
      const agents = list(answered(await client.app.agents())).map(record)
      return mayEdit(agents.find(({ name }) => name === agent)?.['permission'])
    },

    async prompt(session, said, by) {
      const body = { ...by, parts: [{ type: 'text', text: said }] }
      answered(await client.session.promptAsync({ path: { id: session }, body }))
    },
  }
}

function answered({ data, error }: Got): unknown {
  if (error === undefined) return data
  const { name, message } = record(error)
  throw new Error(`OpenCode does not answer: ${text(name) ?? text(message) ?? 'unknown error'}`)
}

/** The user's messages say which model they are for in one place, the assistant's in another. */
function workerOf(message: Fields): AtWork {
  const { agent, model, variant } = message
  const { providerID, modelID, variant: own } = model === undefined ? message : record(model)
  const which = own ?? variant
  return {
    agent: agent as string,
    ...(providerID === undefined ? {} : { model: { providerID, modelID } }),
    ...(which === undefined ? {} : { variant: which }),
  }
}

/** Of the rules that are about editing any file, the last one counts; other forms tell us nothing. */
function mayEdit(rules: unknown): boolean {
  const about = list(rules)
    .map(record)
    .filter(({ permission, pattern }) => (permission === 'edit' || permission === '*') && pattern === '*')
  return about.at(-1)?.['action'] !== 'deny'
}
