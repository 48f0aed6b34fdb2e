/** What a model says of an action: done, or the code of the refusal. */
export type Verdict = 'ok' | 'bad_input' | 'nothing_to_do' | 'not_found' | 'move_refused' | 'lease_lost'

/** Several where the rules leave open which of them it is. */
export type Expected = Verdict | readonly Verdict[]
