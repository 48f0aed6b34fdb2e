import type { Hush, Standing } from '../continuation/judging.ts'
import type { Host, HostEvent, HostTask } from './event.ts'
import { list, record, text } from './reading.ts'

/**
 * A host in which a plugin of ours lives. It tells `{session, cwd, event}` in
 * our own words, and is given the reply as it is. Checked all the same: the
 * plugin may be of another version.
 */
export function pluginHost(name: string, title: string): Host {
  return {
    name,
    title,

    read(payload) {
      const session = text(payload['session'])
      const { type, ...fields } = record(payload['event'])
      const event = typeof type === 'string' && Object.hasOwn(EVENTS, type) ? EVENTS[type]!(fields) : undefined
      return session !== undefined && event ? { session, cwd: text(payload['cwd']), event } : undefined
    },

    write: reply => (reply.type === 'nothing' ? {} : { stdout: JSON.stringify(reply) }),
  }
}

type Fields = Readonly<Record<string, unknown>>

const EVENTS: Readonly<Record<string, (fields: Fields) => HostEvent | undefined>> = {
  recall: () => ({ type: 'recall' }),
  ended: () => ({ type: 'ended' }),
  spoke: ({ text: said, turn }) => ({ type: 'spoke', text: text(said) ?? '', turn: text(turn) }),
  failed: ({ aborted }) => ({ type: 'failed', aborted: aborted === true }),
  stopping: ({ asked }) => ({ type: 'stopping', asked: asked === true }),

  listed({ tasks }) {
    return Array.isArray(tasks) ? { type: 'listed', whole: true, tasks: list(tasks).flatMap(taskFrom) } : undefined
  },

  remember({ standing }) {
    const remembered = standingFrom(record(standing))
    return remembered && { type: 'remember', standing: remembered }
  },
}

const STATUSES: readonly HostTask['status'][] = ['pending', 'in_progress', 'completed', 'cancelled']

function taskFrom(task: unknown): HostTask[] {
  const { key, title, status } = record(task)
  const name = text(key)
  const known = STATUSES.find(one => one === status)
  return name === undefined ? [] : [{ key: name, title: text(title) ?? '', status: known ?? 'pending' }]
}

const HUSHES: readonly (Hush | null)[] = ['aborted', 'error', 'fruitless', 'no_shorter', 'budget', null]

function standingFrom({ injections, fruitless, unshortened, before, injectedAt, hush }: Fields): Standing | undefined {
  const { open, completed } = record(before)
  const known = HUSHES.find(one => one === hush)
  if (!isCount(injections) || !isCount(fruitless) || known === undefined) return undefined
  return {
    injections,
    fruitless,
    unshortened: isCount(unshortened) ? unshortened : 0,
    before: isCount(open) && isCount(completed) ? { open, completed } : null,
    injectedAt: isCount(injectedAt) ? injectedAt : null,
    hush: known,
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
