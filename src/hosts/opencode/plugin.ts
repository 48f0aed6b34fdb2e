import { isOurs } from '../../continuation/prompt.ts'
import type { HostEvent, HostTask } from '../event.ts'
import { ownCommand, runProgram } from '../program.ts'
import { list, record, text } from '../reading.ts'
import { conversationNamed, SCOPE_FIELD } from '../scoping.ts'
import { talkThrough } from '../talk.ts'
import { type Client, openCode } from './client.ts'
import { continuing } from './continuing.ts'
import { cutting } from './cutting.ts'
import { newest, whileNewest } from './newest.ts'
import { newScopeKey, SCOPE_KEY, scopeOf } from './scope.ts'
import { leftOpen } from './subagents.ts'

/** What OpenCode hands to a plugin, as far as we use it. */
export interface Surroundings {
  readonly client: Client
  readonly directory: string
}

type Fields = Record<string, unknown>
type Hook = (input: Readonly<Fields>, output: Fields) => Promise<void>

export interface Hooks {
  readonly config: (config: Fields) => Promise<void>
  readonly event: (input: { readonly event: unknown }) => Promise<void>
  readonly dispose: () => Promise<void>
  readonly 'chat.message': Hook
  readonly 'shell.env': Hook
  readonly 'tool.execute.before': Hook
  readonly 'tool.execute.after': Hook
  readonly 'experimental.chat.messages.transform': Hook
  readonly 'experimental.session.compacting': Hook
  readonly 'experimental.text.complete': Hook
}

/**
 * The plugin. OpenCode runs it in Bun, where there is no `node:sqlite`: the
 * lists are reached through our own program. Whatever goes wrong in here is
 * logged, and OpenCode goes on.
 */
export async function punchlist({ client, directory }: Surroundings, options?: Readonly<Fields>): Promise<Hooks> {
  const command = ownCommand(options?.['command'], import.meta.url)
  const isNewest = newest(directory)
  const key = newScopeKey()
  const host = openCode(client)
  const talk = talkThrough(
    async input => (await runProgram(command, HOOK, { cwd: directory, input })).stdout,
    directory,
  )
  const log = (message: string, level = 'warn') => {
    const said = { service: 'punchlist', level, message: message.slice(0, 500) }
    client.app.log({ body: said }).catch(() => {})
  }
  const quietly = async (work: () => unknown) => {
    try {
      await work()
    } catch (error) {
      log(String(error))
    }
  }
  const tell = async (session: string, event: HostEvent) => await quietly(() => talk.tell(session, event))
  const toast = (body: unknown) => void quietly(() => client.tui.showToast({ body }))
  const hook = continuing({ host, talk, isNewest, toast, log: message => log(message, 'info') })
  const forward = (name: string, session: string, data: unknown = {}) =>
    void quietly(() => hook.heard(name, session, data))
  const cut = cutting(talk)

  const heard: Readonly<Record<string, (session: string, properties: Readonly<Fields>) => void>> = {
    'session.idle': session => {
      // Whatever is sent to a session that goes idle there is lost: the process ends within moments.
      if (!endsWhenIdle()) forward('session.idle', session)
    },
    'session.error': (session, { error }) => forward('session.error', session, { error }),
    'session.compacted': session => forward('session.compacted', session),
    'session.deleted': session => {
      forward('session.deleted', session)
      void tell(session, { type: 'ended' })
    },
    'message.updated': (session, { info }) => {
      // What the user says comes by `chat.message`: here it cannot be told from what OpenCode writes in their name.
      if (record(info)['role'] === 'assistant') forward('message.updated', session, { info })
    },
    'question.rejected': session => hook.refused(session),
    'permission.replied': (session, { reply }) => {
      if (reply === 'reject') hook.refused(session)
    },
    'todo.updated': (session, { todos }) => {
      void tell(session, { type: 'listed', whole: true, tasks: list(todos).flatMap(taskFrom) })
    },
  }

  const hooks: Hooks = {
    async config(config) {
      const server = record(record(config['mcp'])['punchlist']) as Fields
      if (server['type'] === 'local') server['environment'] = { ...record(server['environment']), [SCOPE_KEY]: key }
    },

    async event({ event }) {
      const { type, properties } = record(event)
      const about = record(properties)
      const session = text(about['sessionID']) ?? text(record(about['info'])['id'])
      if (session !== undefined && Object.hasOwn(heard, String(type))) heard[String(type)]!(session, about)
    },

    async 'chat.message'(input, { message, parts }) {
      const session = text(input['sessionID'])
      if (session === undefined) return
      const said = list(parts).map(record)
      const words = said.map(part => text(part['text']) ?? '').join('\n')
      if (isOurs(words)) return
      if (said.every(({ synthetic }) => synthetic === true)) {
        // Results of background tasks, for example: it is at work, and nobody has spoken.
        forward('tool.before', session)
      } else {
        hook.spoken(session)
        forward('message.updated', session, { info: message })
        await tell(session, { type: 'spoke', text: words, turn: text(record(message)['id']) })
      }
    },

    async 'shell.env'(input, { env }) {
      const session = text(input['sessionID'])
      if (session === undefined || conversationNamed(process.env) !== undefined) return
      ;(env as Fields)['PUNCHLIST_CONVERSATION'] ??= session
    },

    async 'tool.execute.before'(input, { args }) {
      const session = text(input['sessionID'])
      if (session === undefined) return
      forward('tool.before', session)
      if (isOurTool(input) && typeof args === 'object') (args as Fields)[SCOPE_FIELD] = scopeOf(session, key)
    },

    async 'tool.execute.after'(input, output) {
      const session = text(input['sessionID'])
      if (session === undefined) return
      forward('tool.after', session)
      if (input['tool'] === 'task') await quietly(() => leftOpen(talk, output))
    },

    async 'experimental.chat.messages.transform'(_, { messages }) {
      // The arguments are kept as they were sent, and models repeat what they see.
      for (const part of list(messages).flatMap(message => list(record(message)['parts']).map(record))) {
        if (isOurTool(part)) delete (record(record(part['state'])['input']) as Fields)[SCOPE_FIELD]
      }
    },

    async 'experimental.session.compacting'(input, output) {
      await quietly(() => cut.begins(text(input['sessionID']), output))
    },

    async 'experimental.text.complete'(input, output) {
      cut.written(text(input['sessionID']), output)
    },

    async dispose() {
      await quietly(() => hook.dispose())
    },
  }
  return whileNewest(hooks, isNewest)
}

const HOOK = ['hook', 'opencode']

/** `opencode run` and its like: one prompt, and the process is over. */
function endsWhenIdle(): boolean {
  const words = process.argv.slice(2)
  const command = words.find((word, index) => !word.startsWith('-') && words[index - 1] !== '--log-level')
  return command === 'run' || command === 'github'
}

/** Its todos have no id, whatever its types say: what they say is their name. */
function taskFrom(todo: unknown): HostTask[] {
  const { content, status } = record(todo)
  const title = text(content)
  return title === undefined ? [] : [{ key: title, title, status: status as HostTask['status'] }]
}

function isOurTool({ tool }: Readonly<Fields>): boolean {
  return text(tool)?.startsWith('punchlist_') ?? false
}
