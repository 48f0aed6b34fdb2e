import { answered } from '../answering.ts'
import type { Host, HostEvent } from '../event.ts'
import { ended, heard, type Meanings, type Payload, started, unfinished, type Words, wholeList } from '../hearing.ts'
import { list, record, text } from '../reading.ts'

export const qwen: Host = {
  name: 'qwen',
  title: 'Qwen Code',

  read: payload => heard(payload, MEANINGS),

  write: (reply, payload) => answered(reply, payload, TAKE_CONTEXT),
}

const TAKE_CONTEXT = ['SessionStart', 'UserPromptSubmit', 'PostToolUse']

const MEANINGS: Meanings = {
  SessionStart: started,
  SessionEnd: ended,
  StopFailure: () => ({ type: 'failed', aborted: false }),
  Stop: stopping,
  SubagentStop: payload => ({ ...stopping(payload), subagent: text(payload['agent_id']) ?? 'unknown' }),
  TodoCreated: changed,
  TodoCompleted: changed,

  // Each answer of a tool comes as a prompt, too: one without words.
  UserPromptSubmit({ prompt, prompt_id }) {
    const said = text(prompt)
    return said === undefined ? undefined : { type: 'spoke', text: said, turn: text(prompt_id) }
  },

  PostToolUse: ({ tool_name, tool_input }) =>
    tool_name === 'todo_write' ? wholeList(record(tool_input)['todos'], TODOS) : undefined,
}

function stopping(payload: Payload): Extract<HostEvent, { type: 'stopping' }> {
  return {
    type: 'stopping',
    agent: text(payload['agent_type']),
    background: unfinished(payload['background_tasks']) + list(payload['crons']).length,
    planning: payload['permission_mode'] === 'plan',
  }
}

/** Told once for each entry that changed, before it is written and after; always with the whole list. */
function changed({ all_todos, phase }: Payload): HostEvent | undefined {
  const listed = wholeList(all_todos, TODOS)
  return listed && { ...listed, asking: phase === 'validation' }
}

const TODOS: Words = {
  key: 'id',
  title: 'content',
  statuses: { pending: 'pending', in_progress: 'in_progress', completed: 'completed' },
}
