import type { Texts } from '../core/kind.ts'
import { documentOf, documentText } from './document.ts'

export const ERROR_REPORT = 'error_report.md'

export interface Failure {
  /** ISO time, UTC. */
  readonly at: string
  readonly by: string
  readonly type: string
  readonly what: string
  readonly tried?: string | null | undefined
}

export function errorReport({ at, by, type, what, tried }: Failure): string {
  return documentText(
    'Error Report',
    { Timestamp: at, 'Error Type': type, By: by },
    { 'What Happened': what, 'What Was Tried': tried },
  )
}

export function readErrorReport(text: string): {
  readonly type: string
  readonly what: string
  readonly tried: string | null
} {
  const { headers, sections } = documentOf(text)
  return {
    type: headers.find(({ key }) => key === 'errortype')?.text ?? '',
    what: sections.get('whathappened')?.text ?? '',
    tried: sections.get('whatwastried')?.text || null,
  }
}

/** What the newest report of a task says, in words; undefined where a new one says the same. What it leaves out is no difference. */
export function reportInstead(texts: Texts, report: string): string | undefined {
  const recorded = readErrorReport(texts[ERROR_REPORT] ?? '')
  const said = readErrorReport(report)
  const same = said.type === recorded.type && said.what === recorded.what
  if (same && (said.tried === null || said.tried === recorded.tried)) return undefined
  if (texts[ERROR_REPORT] === undefined) return 'without a report'
  const tried = recorded.tried === null ? '' : `; tried: ${recorded.tried}`
  return `with another report: ${recorded.type}: ${recorded.what}${tried}`
}

/**
 * What to keep of a new report: the newest is always `error_report.md`, and the
 * one before goes to the next free number. In the order in which they must be
 * written, so that a report is never only in the place that is written over.
 */
export function rotated(texts: Texts, report: string): Texts {
  const before = texts[ERROR_REPORT]
  if (before === undefined || before === report) return { [ERROR_REPORT]: report }
  const numbered = Object.keys(texts).filter(name => NUMBERED.test(name))
  // A rotation that ended half-way has kept the older one already.
  if (numbered.some(name => texts[name] === before)) return { [ERROR_REPORT]: report }
  const last = Math.max(0, ...numbered.map(name => Number(NUMBERED.exec(name)![1])))
  return { [`error_report_${String(last + 1).padStart(3, '0')}.md`]: before, [ERROR_REPORT]: report }
}

const NUMBERED = /^error_report_(\d{1,9})\.md$/
