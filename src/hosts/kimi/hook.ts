import type { Answer, Host } from '../event.ts'
import { ended, heard, type Meanings, started, type Words, wholeList } from '../hearing.ts'
import { list, record, text } from '../reading.ts'

/**
 * Kimi blocks on exit status 2 alone, and puts whatever a hook prints about a
 * prompt before that prompt, as it stands. It asks once a turn: after it has
 * been sent on, the next stop is not told. Subagents stop in the name of their
 * session; nothing tells them apart.
 */
export const kimi: Host = {
  name: 'kimi',
  title: 'Kimi Code',
  announces: true,
  retells: true,

  read: payload => heard(payload, MEANINGS),

  write(reply, payload): Answer {
    if (reply.type === 'go_on' || reply.type === 'refuse') return { stderr: reply.text, exit: 2 }
    const takes = payload['hook_event_name'] === 'UserPromptSubmit'
    return reply.type === 'context' && takes ? { stdout: reply.text } : {}
  },
}

const MEANINGS: Meanings = {
  SessionStart: started,
  SessionEnd: ended,
  Interrupt: () => ({ type: 'failed', aborted: true }),
  StopFailure: () => ({ type: 'failed', aborted: false }),
  Stop: () => ({ type: 'stopping' }),
  UserPromptSubmit: ({ prompt }) => ({ type: 'spoke', text: said(prompt) }),

  // Before it is written: a hook for afterwards is not waited for, and ended with the step.
  PreToolUse({ tool_name, tool_input }) {
    const listed = tool_name === 'TodoList' ? wholeList(record(tool_input)['todos'], TODOS) : undefined
    return listed && { ...listed, asking: true }
  },
}

/** A prompt is a list of parts: texts, images. */
function said(prompt: unknown): string {
  const parts = typeof prompt === 'string' ? [prompt] : list(prompt).map(part => text(record(part)['text']) ?? '')
  return parts.join('')
}

const TODOS: Words = {
  title: 'title',
  statuses: { pending: 'pending', in_progress: 'in_progress', done: 'completed' },
}
