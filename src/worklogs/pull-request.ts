import { forPullRequest } from './escaping.ts'
import { knownIssues } from './issues.ts'
import type { Overview, SessionVerdict } from './progress.ts'
import { BEGIN, clearPlace, END, withoutSections } from './pull-request-body.ts'
import { progressTable } from './summary.ts'

/** The section about a session in the body of a pull request, between marks by which it is found again. */
export function pullRequestSection(overview: Overview): string {
  const { workers, completed_tasks, total_tasks, completed_subtasks, total_subtasks } = overview
  const counts = `${completed_tasks}/${total_tasks} tasks (${completed_subtasks}/${total_subtasks} subtasks)`
  return `${BEGIN}
## Work Session

<details>
<summary>${workers.length} ${workers.length === 1 ? 'worker' : 'workers'} completed ${counts}</summary>

${progressTable(overview, text => forPullRequest(text))}
${WARDS[overview.wards]}
</details>

### Key Decisions
${keyDecisions(overview)}

### Known Issues
${issueList(overview)}

${END}
`
}

/** Below the table, before a blank line. */
const WARDS: Readonly<Record<SessionVerdict, string>> = {
  passed: '\nWards: passed, as punchlist ran them.\n',
  claimed: '\nWards: passed, as the workers claim. punchlist did not run them.\n',
  failed: '\nWards: failed.\n',
  unknown: '',
}

/** A body with the section: in place of an earlier one, else at its end. Every other byte is as it was. */
export function merged(body: string, section: string): string {
  // Bodies that were written in a browser have CRLF.
  const eol = /\r?\n|\r$/.exec(body)?.[0].startsWith('\r') ? '\r\n' : '\n'
  const text = section.trim().replaceAll('\n', eol)
  const { rest, at } = withoutSections(body)
  const place = clearPlace(rest, at ?? rest.length)
  const [before, after] = [rest.slice(0, place), rest.slice(place)]
  // HTML goes on to the next blank line, and would take in our heading.
  const gap = before === '' || /(?:^|\n)[ \t]*\r?\n$/.test(before) ? '' : before.endsWith('\n') ? eol : eol + eol
  const end = place === at ? (after === '' || /^\r?\n/.test(after) ? '' : eol) : after === '' ? eol : eol + eol
  return before + gap + text + end + after
}

const MOST_DECISIONS = 5

/** New dependencies, changes of architecture and deviations from the plan first, then the newest. */
function keyDecisions({ workers }: Overview): string {
  const all = workers
    .flatMap(({ worker, decisions }) => decisions.map(({ text, at }) => ({ worker, text, time: timeOf(at) })))
    .map((one, place) => ({ ...one, place, tagged: TAGGED.test(one.text) }))
  if (all.length === 0) return '- No decisions recorded'
  const key = all
    .toSorted((a, b) => Number(b.tagged) - Number(a.tagged) || b.time - a.time || b.place - a.place)
    .slice(0, MOST_DECISIONS)
    .map(({ worker, text }) => `- **${forPullRequest(worker)}**: ${forPullRequest(text, 200)}`)
    .join('\n')
  return all.length > MOST_DECISIONS ? `${key}\n\n${MOST_DECISIONS} of ${all.length} decisions` : key
}

const TAGGED = /^[\s*_`]*\[(?:dep|arch|deviation)\]/i

/** In milliseconds; long ago for what is no ISO time. One without a zone is taken as UTC, wherever it is read. */
function timeOf(text: string | null): number {
  const [, day, clock = '00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)[ ]?(Z|[+-]\d\d:\d\d)?)?/.exec(text?.trim() ?? '') ??
    []
  const time = Date.parse(`${day}T${clock}${zone}`)
  return Number.isNaN(time) ? 0 : time
}

function issueList(overview: Overview): string {
  return (
    knownIssues(overview)
      .map(line => `- ${line}`)
      .join('\n') || '- None'
  )
}
