import { answered } from '../answering.ts'
import type { Host, HostEvent } from '../event.ts'
import { ended, heard, type Meanings, type Payload, started, type Words, wholeList } from '../hearing.ts'
import { record, text } from '../reading.ts'

export const codex: Host = {
  name: 'codex',
  title: 'Codex',
  sheds: true,

  read: payload => heard(payload, MEANINGS),

  write: (reply, payload) => answered(reply, payload, TAKE_CONTEXT),
}

const TAKE_CONTEXT = ['SessionStart', 'UserPromptSubmit', 'PostToolUse']

const MEANINGS: Meanings = {
  SessionStart: started,
  SessionEnd: ended,
  Interrupt: () => ({ type: 'failed', aborted: true }),
  UserPromptSubmit: ({ prompt, turn_id }) => ({ type: 'spoke', text: text(prompt) ?? '', turn: text(turn_id) }),
  Stop: stopping,
  SubagentStop: payload => ({ ...stopping(payload), subagent: text(payload['agent_id']) ?? 'unknown' }),
  PostToolUse: ({ tool_name, tool_input }) =>
    tool_name === 'update_plan' ? wholeList(record(tool_input)['plan'], PLAN) : undefined,
}

function stopping({ permission_mode, agent_type }: Payload): Extract<HostEvent, { type: 'stopping' }> {
  return { type: 'stopping', agent: text(agent_type), planning: permission_mode === 'plan' }
}

const PLAN: Words = {
  title: 'step',
  statuses: { pending: 'pending', in_progress: 'in_progress', completed: 'completed' },
}
