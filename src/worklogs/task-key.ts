/**
 * What tells one task from another in a session: the task of the queue that a
 * subject begins with, or else its number and its subject together. Workers that
 * number their own tasks from 1 have different ones under one number.
 */
export function taskKey({ number, subject }: { readonly number: number; readonly subject: string }): string {
  return queueTaskIn(subject) ?? `${number} ${subject.trim().replace(/\s+/g, ' ')}`
}

/** The id of a task of the queue at the beginning of a subject. */
function queueTaskIn(subject: string): string | undefined {
  return /^\s*(req_\d{4,15}(?:_\d{2})*)(?![\w-])/.exec(subject)?.[1]
}
