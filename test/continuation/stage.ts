import {
  createTodoContinuationHook,
  type Toast,
  type Todo,
  type TodoContinuationOptions,
} from '../../src/continuation/index.ts'
import { settled, VirtualClock } from './clock.ts'

export const SESSION = 'ses_1'

/** A hook in a host that does as it is told, and what came of it. */
export function staged(options: TodoContinuationOptions = {}) {
  const clock = new VirtualClock()
  const injected: { session: string; prompt: string; agent: string | undefined; at: number }[] = []
  const toasts: Toast[] = []
  const logged: string[] = []
  const hook = createTodoContinuationHook({
    clock,
    getTodos: () => todos('completed', 'in_progress', 'pending'),
    injectPrompt: (session, prompt, agent) => void injected.push({ session, prompt, agent, at: clock.now() }),
    showToast: toast => void toasts.push(toast),
    log: (what, { why }) => void logged.push(why === undefined ? what : `${what}: ${why}`),
    ...options,
  })
  /** Does not wait for the hook: a host may well not. */
  const happens = async (event: string, data?: unknown, sessionId = SESSION) => {
    void hook.handler({ event, sessionId, data })
    await settled()
  }
  const message = (role: string, fields: object) =>
    happens('message.updated', { info: { role, time: { created: clock.now() }, ...fields } })
  const goesIdle = async () => {
    await clock.pass(1)
    await happens('session.idle')
  }
  return {
    clock,
    hook,
    injected,
    toasts,
    logged,
    happens,
    /** The user writes something that was not there before. */
    speaks: (fields: object = {}) => message('user', { text: 'wait', ...fields }),
    answers: (fields: object = {}) => message('assistant', fields),
    goesIdle,
    /** Goes idle and is given the time of the countdown. */
    async rests(milliseconds = 2000) {
      await goesIdle()
      await clock.pass(milliseconds)
    },
  }
}

export function todos(...statuses: readonly string[]): Todo[] {
  return statuses.map((status, n) => ({ id: String(n + 1), content: `item ${n + 1}`, status, priority: 'medium' }))
}
