import { keyLine, whole } from '../core/yaml/writing.ts'
import { cell } from './escaping.ts'
import type { Overview } from './progress.ts'

/** The summary of a session, a document of its own. */
export function summaryText(overview: Overview, generated: string): string {
  const { workers, plans, unread } = overview
  const decisions = workers.flatMap(one => {
    const worker = cell(one.worker)
    return one.decisions.map(({ text }) => `- **${worker}**: ${cell(text)}`)
  })
  const parts = [
    `---
generated: ${generated}
${keyLine('plan', plans.length > 1 ? plans.map(whole) : (plans.map(whole)[0] ?? null))}
workers: ${workers.length}
total_tasks: ${overview.total_tasks}
completed_tasks: ${overview.completed_tasks}
total_subtasks: ${overview.total_subtasks}
completed_subtasks: ${overview.completed_subtasks}
unique_tasks: ${overview.unique_tasks}
unique_completed: ${overview.unique_completed}
wards: ${overview.wards}
---`,
    '# Work Session Summary',
    '## Progress Overview',
    progressTable(overview),
    '## Key Decisions (across all workers)',
    decisions.join('\n') || '- No decisions recorded',
  ]
  const active = workers.filter(({ status }) => status === 'active')
  if (active.length > 0) {
    parts.push('## Still Active', active.map(({ worker }) => `- **${cell(worker)}**`).join('\n'))
  }
  if (unread.length > 0) {
    const missing = unread.map(({ file, line, message }) => `- ${cell(file, 300)}, line ${line}: ${cell(message, 300)}`)
    parts.push('## Not Included', missing.join('\n'))
  }
  return `${parts.join('\n\n')}\n`
}

/** A row for each worker; `escape` where another document than ours has its own ideas of text. */
export function progressTable({ workers }: Overview, escape: (text: string) => string = text => cell(text)): string {
  const rows = workers.map(one => {
    const tasks = `${one.tasks_completed}/${one.tasks_total}`
    const subtasks = `${one.subtasks_completed}/${one.subtasks_total}`
    return `| ${escape(one.worker)} | ${escape(one.role)} | ${tasks} | ${subtasks} | ${escape(one.status)} |`
  })
  return [
    '| Worker | Role | Tasks | Subtasks | Status |',
    '|--------|------|-------|----------|--------|',
    ...rows,
  ].join('\n')
}
