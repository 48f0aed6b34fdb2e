import { answered } from '../answering.ts'
import type { Host } from '../event.ts'
import { ended, heard, type Meanings, started, type Words, wholeList } from '../hearing.ts'
import { record, text } from '../reading.ts'

export const gemini: Host = {
  name: 'gemini',
  title: 'Gemini CLI',
  announces: true,
  retells: true,

  read: payload => heard(payload, MEANINGS),

  write: (reply, payload) => answered(reply, payload, TAKE_CONTEXT),
}

const TAKE_CONTEXT = ['SessionStart', 'BeforeAgent', 'AfterTool']

const MEANINGS: Meanings = {
  SessionStart: started,
  SessionEnd: ended,
  AfterAgent: () => ({ type: 'stopping' }),
  BeforeAgent: ({ prompt }) => ({ type: 'spoke', text: said(text(prompt) ?? '') }),
  AfterTool: ({ tool_name, tool_input, tool_response }) =>
    tool_name === 'write_todos' && !record(tool_response)['error']
      ? wholeList(record(tool_input)['todos'], TODOS)
      : undefined,
}

/** What hooks gave at the start of a session stands in front of the first words of the user. */
function said(prompt: string): string {
  const end = '</hook_context>'
  return prompt.startsWith('<hook_context>') && prompt.includes(end)
    ? prompt.slice(prompt.lastIndexOf(end) + end.length).trimStart()
    : prompt
}

const TODOS: Words = {
  title: 'description',
  statuses: { pending: 'pending', in_progress: 'in_progress', completed: 'completed', cancelled: 'cancelled' },
}
