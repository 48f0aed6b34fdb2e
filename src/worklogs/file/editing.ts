import { oneLine, trimmed } from '../../core/markdown.ts'
import type { TaskSection } from '../record.ts'
import { placesIn } from './account.ts'
import { attempt, below, listedBelow, nextMarker, sure } from './attempt.ts'
import { draftOf } from './draft.ts'
import { namedFiles, storedFiles } from './file-names.ts'
import { inert, inertSubject } from './inert.ts'
import { withKey } from './key-lines.ts'
import { bare, type KeyName } from './keys.ts'
import { reasonAsRead, withReason } from './reason.ts'

/** What is known when a worker takes on a task. */
export interface NewSection {
  readonly number: number
  readonly subject: string
  readonly claimed: string
  readonly subtasks: readonly string[]
}

export interface Outcome {
  readonly status: 'completed' | 'failed'
  readonly completed?: string | undefined
  readonly files?: readonly string[] | undefined
  readonly ward?: string | undefined
  readonly failure?: string | undefined
}

/** The text with one more section at its end. */
export function withSection(body: string, { number, subject, claimed, subtasks }: NewSection): string {
  const { level, sections, decisions } = placesIn(body)
  const boxes = distinct(subtasks)
  const words = inertSubject(subject)
  const keys = ['**Status**: in_progress', ...(oneLine(claimed) === '' ? [] : [`**Claimed**: ${oneLine(claimed)}`])]
  const text = [
    `${'#'.repeat(level)} Task #${number}${words === '' ? '' : `: ${words}`}`,
    keys.join('\n'),
    ...(boxes.length > 0 ? [boxes.map(box => `- [ ] ${box}`).join('\n')] : []),
  ].join('\n\n')
  const { end } = trimmed(body, 0, body.length)
  const told = boxes.map(box => ({ text: box, done: false }))
  const section: TaskSection = {
    ...draftOf(number, oneLine(subject)),
    status: 'in_progress',
    claimed: bare(oneLine(claimed)),
    subtasks: told,
  }
  return sure(end === 0 ? text : below(body, end, text), { sections: [...sections, section], decisions }, number)
}

/** The text with a check box for each subtask that has none. */
export function withSubtasks(body: string, number: number, texts: readonly string[]): string {
  const { section, place, instead } = attempt(body, number)
  const boxes = distinct(texts).filter(text => !section.subtasks.some(subtask => subtask.text === text))
  if (boxes.length === 0) return body
  const at = place.list?.end ?? place.lead
  const lines = boxes.map((box, n) => `${place.list ? nextMarker(body, place.list, n + 1) : '-'} [ ] ${box}`)
  const after = place.list ? listedBelow(body, at, lines) : below(body, at, lines.join('\n'))
  const before = place.signs.filter(sign => sign < at).length
  const added = boxes.map(text => ({ text, done: false }))
  return sure(after, instead({ subtasks: section.subtasks.toSpliced(before, 0, ...added) }), number)
}

/** The text with a subtask checked off, counted from 1; undefined when there is none. */
export function withChecked(body: string, number: number, subtask: number): string | undefined {
  const { section, place, instead } = attempt(body, number)
  const sign = place.signs[subtask - 1]
  if (sign === undefined) return undefined
  if (section.subtasks[subtask - 1]!.done) return body
  const subtasks = section.subtasks.map((one, n) => (n === subtask - 1 ? { ...one, done: true } : one))
  return sure(`${body.slice(0, sign)}x${body.slice(sign + 1)}`, instead({ subtasks }), number)
}

/** The text with one more decision, unless it is there. */
export function withDecision(body: string, number: number, text: string): string {
  const { section, place, level, instead } = attempt(body, number)
  const decision = oneLine(text)
  if (decision === '' || section.decisions.includes(decision)) return body
  const wanted = instead({ decisions: [...section.decisions, decision] })
  if (!place.decisions) {
    const at = place.failure ? trimmed(body, 0, place.failure.start).end : place.end
    return sure(below(body, at, `${'#'.repeat(level + 1)} Decisions\n\n- ${inert(decision)}`), wanted, number)
  }
  const { item, end } = place.decisions
  if (!item) return sure(below(body, end, `- ${inert(decision)}`), wanted, number)
  return sure(listedBelow(body, end, [`${nextMarker(body, item)} ${inert(decision)}`]), wanted, number)
}

/** The text with what came of a task. What is not given stays as it is. */
export function withOutcome(body: string, number: number, outcome: Outcome): string {
  const { section, instead } = attempt(body, number)
  const { status } = outcome
  const completed = bare(oneLine(outcome.completed ?? '')) ?? section.completed
  const touched = storedFiles(outcome.files ?? [])
  const files = touched.length > 0 ? touched : section.files
  const ward = oneLine(outcome.ward ?? '') || section.ward
  const failure = reasonAsRead(outcome.failure ?? '') || section.failure
  const keys: [KeyName, string | null, Partial<TaskSection>][] = [
    ['Status', status, { status }],
    ['Completed', completed, { completed }],
    ['Files touched', namedFiles(files), { files }],
    ['Ward Result', ward, { ward }],
  ]
  let after = body
  const told: Partial<TaskSection> = {}
  for (const [name, value, part] of keys) {
    if (value === null || JSON.stringify({ ...section, ...part }) === JSON.stringify(section)) continue
    Object.assign(told, part)
    after = sure(withKey(after, number, name, value), instead(told), number)
  }
  return failure === section.failure ? after : withReason(after, number, failure!, instead({ ...told, failure }))
}

/** The text with what the wards said of a task. */
export function withWard(body: string, number: number, text: string): string {
  const { section, instead } = attempt(body, number)
  const ward = oneLine(text)
  if (ward === '' || ward === section.ward) return body
  return sure(withKey(body, number, 'Ward Result', ward), instead({ ward }), number)
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts.map(oneLine).filter(text => text !== ''))]
}
