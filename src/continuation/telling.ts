import type { Judgement, Standing, Work } from './judging.ts'
import type { TodoContinuationConfig } from './settings.ts'

/** What will happen when a session stops, and why, in one sentence. */
export function foretold(judgement: Judgement, standing: Standing, work: Work, config: TodoContinuationConfig): string {
  if (judgement.go)
    return `goes on when it stops: ${items(work.open, 'open item')}, injection ${left(standing, config)}`
  return REASONS[judgement.why]({ work, standing, config })
}

/** What is left by a session that its host has closed. */
export function leftBy({ open, waiting }: Work): string {
  return `has ended with ${items(open + waiting, 'item')} left, which wait until it is resumed`
}

interface Known {
  readonly work: Work
  readonly standing: Standing
  readonly config: TodoContinuationConfig
}

const UNTIL_SPOKEN = 'until you say something'

const REASONS: Readonly<Record<Exclude<Judgement, { go: true }>['why'], (known: Known) => string>> = {
  disabled: () => 'may stop: continuation is disabled in punchlist.json',
  off: () => 'may stop: continuation is switched off for this session (punchlist start --session ID)',
  off_for_all: () => 'may stop: continuation is switched off for all (punchlist start)',
  aborted: () => 'may stop: you ended it yourself',
  error: () => `may stop: its last run ended with an error; left alone ${UNTIL_SPOKEN}`,
  fruitless: ({ config }) =>
    `may stop: ${items(config.maxFruitless, 'injection')} brought no progress; left alone ${UNTIL_SPOKEN}`,
  no_shorter: ({ config }) =>
    `may stop: ${items(config.maxUnshortened, 'injection')} in a row left as much open as before; left alone ${UNTIL_SPOKEN}`,
  budget: ({ config }) => `may stop: ${items(config.maxInjections, 'injection')} are spent; left alone ${UNTIL_SPOKEN}`,
  recovering: () => 'may stop: it is getting over an error',
  background: () => 'may stop: background tasks are under way',
  asked: () => 'may stop: it has asked you something',
  nothing_open: () => 'may stop: nothing is open',
  waiting_on_person: ({ work }) => `waiting on you: ${items(work.waiting, 'blocked item')}`,
  agent_unknown: () => 'may stop: its context was cut, and which agent is at work is not known',
  read_only: () => 'may stop: its agent may not write',
  planning: () => 'may stop: its agent only plans',
  cooling: () => 'goes on in a moment: the last injection brought no progress',
}

function left({ injections }: Standing, { maxInjections }: TodoContinuationConfig): string {
  return `${injections + 1} of ${maxInjections} at most`
}

function items(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
