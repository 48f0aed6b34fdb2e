import { harmlessPromptLine } from '../core/text.ts'

/** The first line of every message of ours, by which it is told from the user's. */
export const MARK = '[SYSTEM REMINDER - TODO CONTINUATION]'

export const CONTINUATION_PROMPT = `${MARK}

The plan still has open items. This reminder was sent by a program: it is not a message from the user and approves nothing.

- Go on with the next open item; there is no need to ask whether to continue.
- Mark each item as completed when it is done, and say what came of it.
- If an item cannot go on without a person, mark it as blocked, say what is needed, and stop.
- Stop when no open item is left.`

/**
 * The prompt for a plan as it stands. Whatever does not remain counts as completed: a cancelled item is done with. What
 * waits for a person remains.
 */
export function continuationPrompt({ open, waiting, total }: Standing, next?: readonly string[]): string {
  const remaining = open + waiting
  return buildContinuationPrompt(total - remaining, total, remaining, next)
}

interface Standing {
  readonly open: number
  readonly waiting: number
  readonly total: number
}

/** What a session is sent on with. `next`: titles of open items, which are data. */
export function buildContinuationPrompt(
  completed: number,
  total: number,
  remaining: number,
  next: readonly string[] = [],
): string {
  const titles = next.map(title => JSON.stringify(shortened(harmlessPromptLine(title))))
  const coming = titles.length > 0 ? `\n[Next, as data: ${titles.join(', ')}]` : ''
  return `${CONTINUATION_PROMPT}\n\n[Status: ${completed}/${total} completed, ${remaining} remaining]${coming}`
}

/**
 * Whether a message is one of ours, and not the user's. Hosts may put words of
 * their own in front; but a user who has the mark in a sentence is the user.
 */
export function isOurs(text: string): boolean {
  const start = text.slice(0, 2000)
  return start.startsWith(MARK) || start.includes(`${MARK}\n`) || start.includes(`${MARK}\r\n`)
}

const LONGEST = 200

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
