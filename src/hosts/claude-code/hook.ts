import type { Answer, Host, HostEvent, HostTask } from '../event.ts'
import { cutting, ended, type Meanings, type Payload, started, unfinished } from '../hearing.ts'
import { list, record, text } from '../reading.ts'

export const claudeCode: Host = {
  name: 'claude-code',
  title: 'Claude Code',
  folderFrom: 'CLAUDE_PROJECT_DIR',

  read(payload) {
    const session = text(payload['session_id'])
    const name = text(payload['hook_event_name'])
    const event = name !== undefined && Object.hasOwn(EVENTS, name) ? EVENTS[name]!(payload) : undefined
    return session !== undefined && event ? { session, cwd: text(payload['cwd']), event } : undefined
  },

  write(reply, payload): Answer {
    if (reply.type === 'refuse') return { stderr: reply.text, exit: 2 }
    if (reply.type !== 'go_on' && reply.type !== 'context') return {}
    // What is printed here is told to whoever sums up.
    if (payload['hook_event_name'] === 'PreCompact') return { stdout: reply.text }
    // A decision to block would be shown to the model twice, as an error; this once, and plainly.
    const said = { hookEventName: text(payload['hook_event_name']), additionalContext: reply.text }
    return { stdout: JSON.stringify({ hookSpecificOutput: said }) }
  },
}

const EVENTS: Meanings = {
  Stop: payload => stopping(payload),
  SubagentStop: payload => ({ ...stopping(payload), subagent: text(payload['agent_id']) ?? 'unknown' }),
  SessionStart: started,
  SessionEnd: ended,
  PreCompact: cutting,
  StopFailure: () => ({ type: 'failed', aborted: false }),

  UserPromptSubmit({ prompt, prompt_id, source, agent_id }) {
    // Timers and the program itself send prompts, too, an agent to those below it, and a background task when it ends.
    const byUser = source === undefined || source === 'user' || source === 'sdk'
    const isNotice = text(prompt)?.startsWith('<task-notification>') ?? false
    return byUser && !isNotice && agent_id === undefined
      ? { type: 'spoke', text: text(prompt) ?? '', turn: text(prompt_id) }
      : undefined
  },

  TaskCreated: payload => oneTask(payload, 'pending'),
  TaskCompleted: payload => oneTask(payload, 'completed'),

  // Tasks are the session's, whoever makes them. Todos are each agent's own, and a subagent's are none of the session's.
  PostToolUse({ tool_name, tool_input, tool_response, agent_id }) {
    const input = record(tool_input)
    if (record(tool_response)['success'] === false) return undefined
    if (tool_name === 'TodoWrite' && Array.isArray(input['todos'])) {
      if (agent_id !== undefined) return undefined
      return { type: 'listed', whole: true, tasks: list(input['todos']).flatMap(written) }
    }
    return tool_name === 'TaskUpdate' ? updated(input) : undefined
  },
}

function stopping(payload: Payload): Extract<HostEvent, { type: 'stopping' }> {
  return {
    type: 'stopping',
    agent: text(payload['agent_type']),
    background: unfinished(payload['background_tasks']) + list(payload['session_crons']).length,
    planning: payload['permission_mode'] === 'plan',
  }
}

function oneTask(payload: Payload, status: 'pending' | 'completed'): HostEvent | undefined {
  const key = text(payload['task_id'])
  const title = text(payload['task_subject']) ?? ''
  const context = text(payload['task_description'])
  const asking = status === 'completed'
  return key === undefined
    ? undefined
    : { type: 'listed', whole: false, asking, tasks: [{ key, title, context, status }] }
}

/** What a task of its own list can be, in the words of the plan. */
export const STATUSES: ReadonlyMap<unknown, HostTask['status']> = new Map([
  ['pending', 'pending'],
  ['in_progress', 'in_progress'],
  ['completed', 'completed'],
  ['deleted', 'cancelled'],
])

function updated(input: Payload): HostEvent | undefined {
  const key = text(input['taskId'])
  const status = STATUSES.get(input['status'])
  if (key === undefined || !status) return undefined
  return { type: 'listed', whole: false, tasks: [{ key, title: text(input['subject']) ?? '', status }] }
}

function written(todo: unknown): HostTask[] {
  const { content, status } = record(todo)
  const title = text(content)
  return title === undefined ? [] : [{ key: title, title, status: STATUSES.get(status) ?? 'pending' }]
}
