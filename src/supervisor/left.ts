import { harmlessLine } from '../core/text.ts'
import type { Standing } from '../plans/context.ts'
import type { Counts } from '../plans/outlook.ts'
import type { PlanItem } from '../plans/record.ts'
import type { Left, TurnResult } from './events.ts'

/** What is left in a plan, for programs. */
export function leftOf({ open, waiting, items }: Standing): { remaining: number; left: Left[] } {
  const left = items.map(({ id, title, status, needs }) => ({ id, title, status, needs }))
  return { remaining: open + waiting, left }
}

/** What is left, as the user is told it; empty where nothing is. */
export function leftText({ open, waiting, items }: Standing): string {
  if (open + waiting === 0) return ''
  const lines = items.map(({ title, status, needs }) => {
    const state = needs === null ? status : `needs you: ${harmlessLine(needs)}`
    return `- ${harmlessLine(title)} (${state})`
  })
  const more = open + waiting - items.length
  return ['Left in the plan:', ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

/** What was cancelled and why, as the user is told it; empty where nothing was. */
export function cancelledText(items: readonly PlanItem[], { cancelled }: Counts): string {
  if (cancelled === 0) return ''
  const lines = items.map(({ title, outcome }) => `- ${harmlessLine(title)}: ${harmlessLine(outcome ?? '')}`)
  const more = cancelled - items.length
  return ['Cancelled:', ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

/** The counts of a plan of which something was cancelled; empty where nothing was: what is left is named. */
export function countsText({ completed, verified, cancelled, blocked, left }: Counts): string {
  if (cancelled === 0) return ''
  const counts = [`${completed} completed`, `${verified} verified`, `${cancelled} cancelled`, `${blocked} blocked`]
  return `Of the plan: ${[...counts, `${left} left`].join(', ')}.`
}

/** What the user is told by a model that has said nothing: there is always an answer. */
export function silence(end: TurnResult['end'], calls: number): string {
  if (end === 'budget') return `I stopped after ${calls} ${calls === 1 ? 'step' : 'steps'}.`
  return end === 'unanswered' ? 'A tool waits for an approval.' : 'I have nothing to add.'
}
