import { blocked } from '../answering.ts'
import type { Answer, Host, HostEvent } from '../event.ts'
import { ended, heard, type Meanings, type Payload, started } from '../hearing.ts'
import { text } from '../reading.ts'

/**
 * Copilot has two spellings: with Claude Code's names of events it sends
 * Claude Code's fields; with its own it sends neither the event's name nor an
 * underscore. Its own list is a table that the model writes SQL to, which no
 * event tells of.
 */
export const copilot: Host = {
  name: 'copilot',
  title: 'Copilot CLI',
  announces: true,

  read: payload => heard('session_id' in payload ? payload : translated(payload), MEANINGS),

  write(reply): Answer {
    if (reply.type === 'go_on' || reply.type === 'refuse') return blocked(reply.text)
    // Within hookSpecificOutput, where others want it, it is not read.
    return reply.type === 'context' ? { stdout: JSON.stringify({ additionalContext: reply.text }) } : {}
  },
}

const MEANINGS: Meanings = {
  SessionStart: started,
  SessionEnd: ended,
  Stop: stopping,
  SubagentStop: payload => ({ ...stopping(payload), subagent: text(payload['agent_id']) ?? 'unknown' }),

  // What came of a task in the background is told as a prompt, too.
  UserPromptSubmit({ prompt }) {
    const said = text(prompt) ?? ''
    return said.startsWith('<system_notification>') ? undefined : { type: 'spoke', text: said }
  },
}

function stopping({ agent_type }: Payload): Extract<HostEvent, { type: 'stopping' }> {
  return { type: 'stopping', agent: text(agent_type) }
}

/** The same event in Claude Code's words, known by the field that no other one has. */
function translated(payload: Payload): Payload {
  const known = FIELDS.find(([field]) => field in payload)
  const { sessionId, agentId, agentType } = payload
  return { ...payload, session_id: sessionId, agent_id: agentId, agent_type: agentType, hook_event_name: known?.[1] }
}

const FIELDS = [
  ['toolName', 'PostToolUse'],
  ['response', 'SubagentStop'],
  ['stopReason', 'Stop'],
  ['source', 'SessionStart'],
  ['prompt', 'UserPromptSubmit'],
  ['reason', 'SessionEnd'],
] as const
