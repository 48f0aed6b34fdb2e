import type { Expected } from './verdict.ts'

/**
 * The worklogs of the sessions, by the protocol of per-worker files.
 *
 * Where the rules are silent the model follows the pages in `docs/` or the program:
 * - a section that is closed keeps its subtasks as they are checked, and can still be checked off;
 * - a task that was completed is begun again only with `again`, and otherwise answered as it is;
 * - completing or failing a task again changes nothing, and the other way round is refused;
 * - a verb about a task makes a log active again that was closed only where it begins one.
 */
interface Section {
  number: number
  subject: string
  status: 'in_progress' | 'completed' | 'failed'
  subtasks: { text: string; done: boolean }[]
  decisions: string[]
}

interface Log {
  status: 'active' | 'completed' | 'interrupted'
  sections: Section[]
}

/** By session and worker: `s1/ann`. */
export type Logs = Record<string, Log>

export type LogAction =
  | { verb: 'open'; log: string }
  | { verb: 'task'; log: string; number: number; subject: string; subtasks: string[]; again: boolean }
  | { verb: 'check'; log: string; number: number; subtask: number }
  | { verb: 'decide'; log: string; number: number; text: string }
  | { verb: 'complete'; log: string; number: number }
  | { verb: 'fail'; log: string; number: number }
  | { verb: 'close'; log: string; interrupted: boolean }
  | { verb: 'sweep'; session: string }

/** Carries an action out, or says how it is refused; then nothing has changed. */
export function actOnLogs(logs: Logs, action: LogAction): Expected {
  if (action.verb === 'sweep') {
    for (const [name, log] of Object.entries(logs))
      if (name.startsWith(`${action.session}/`) && log.status === 'active') log.status = 'interrupted'
    return 'ok'
  }
  if (action.verb === 'open') {
    const log = (logs[action.log] ??= { status: 'active', sections: [] })
    log.status = 'active'
    return 'ok'
  }
  const log = logs[action.log]
  if (!log) return 'not_found'
  if (action.verb === 'close') {
    const status = action.interrupted ? 'interrupted' : 'completed'
    if (log.status === 'completed' && status === 'interrupted') return 'move_refused'
    log.status = status
    return 'ok'
  }
  const section = log.sections.findLast(({ number }) => number === action.number)
  if (action.verb === 'task') return begin(log, section, action)
  return section ? actOnSection(section, action) : 'not_found'
}

function begin(log: Log, section: Section | undefined, action: Extract<LogAction, { verb: 'task' }>): Expected {
  const { number, subject, subtasks, again } = action
  const goesOn = section?.status === 'in_progress'
  if (section?.status === 'completed' && !again) return 'ok'
  if (goesOn) {
    const known = new Set(section.subtasks.map(({ text }) => text))
    section.subtasks.push(...subtasks.filter(text => !known.has(text)).map(text => ({ text, done: false })))
  } else {
    const fresh = subtasks.map(text => ({ text, done: false }))
    log.sections.push({ number, subject, status: 'in_progress', subtasks: fresh, decisions: [] })
  }
  log.status = 'active'
  return 'ok'
}

function actOnSection(
  section: Section,
  action: Extract<LogAction, { verb: 'check' | 'decide' | 'complete' | 'fail' }>,
): Expected {
  switch (action.verb) {
    case 'check': {
      const subtask = section.subtasks[action.subtask - 1]
      if (!subtask) return 'not_found'
      subtask.done = true
      return 'ok'
    }
    case 'decide':
      if (!section.decisions.includes(action.text)) section.decisions.push(action.text)
      return 'ok'
    case 'complete':
      if (section.status === 'failed') return 'move_refused'
      section.status = 'completed'
      return 'ok'
    default:
      if (section.status === 'completed') return 'move_refused'
      section.status = 'failed'
      return 'ok'
  }
}
