import type { TaskSection } from '../record.ts'

/** A section while it is read. */
export interface Draft extends TaskSection {
  status: TaskSection['status']
  claimed: string | null
  completed: string | null
  readonly subtasks: { text: string; readonly done: boolean }[]
  files: string[]
  ward: string | null
  readonly decisions: string[]
  failure: string | null
}

export function draftOf(number: number, subject: string): Draft {
  return {
    number,
    subject,
    status: 'unknown',
    claimed: null,
    completed: null,
    subtasks: [],
    files: [],
    ward: null,
    decisions: [],
    failure: null,
  }
}
