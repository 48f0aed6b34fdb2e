// PLACEHOLDER by the lead until the real one is here: replace all of it.
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

export function withSection(_: string, __: NewSection): string {
  throw new Error('not yet')
}
export function withSubtasks(_: string, __: number, ___: readonly string[]): string {
  throw new Error('not yet')
}
export function withChecked(_: string, __: number, ___: number): string | undefined {
  throw new Error('not yet')
}
export function withDecision(_: string, __: number, ___: string): string {
  throw new Error('not yet')
}
export function withOutcome(_: string, __: number, ___: Outcome): string {
  throw new Error('not yet')
}
export function withWard(_: string, __: number, ___: string): string {
  throw new Error('not yet')
}
