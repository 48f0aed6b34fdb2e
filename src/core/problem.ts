/**
 * Everything we refuse, refuse loudly and once. Codes are public: scripts and
 * agents branch on them, so a code is added or retired, never reworded.
 * `exit` is what the CLI leaves with, `http` what an HTTP door answers, and
 * `retry` says that the same call may well succeed later, unchanged.
 */
export const PROBLEMS = {
  bad_input: { exit: 2, http: 400, retry: false },
  nothing_to_do: { exit: 3, http: 404, retry: true },
  not_found: { exit: 4, http: 404, retry: false },
  move_refused: { exit: 5, http: 409, retry: false },
  changed_meanwhile: { exit: 6, http: 409, retry: true },
  lease_lost: { exit: 6, http: 409, retry: false },
  unreadable_file: { exit: 7, http: 422, retry: false },
  newer_schema: { exit: 8, http: 503, retry: false },
  store_busy: { exit: 9, http: 503, retry: true },
  store_full: { exit: 9, http: 507, retry: true },
  store_read_only: { exit: 9, http: 503, retry: false },
  store_unreachable: { exit: 9, http: 503, retry: true },
  unsupported_runtime: { exit: 9, http: 503, retry: false },
  work_left: { exit: 10, http: 409, retry: true },
  model_failed: { exit: 11, http: 502, retry: true },
  untrusted: { exit: 12, http: 403, retry: false },
} as const

export type ProblemCode = keyof typeof PROBLEMS

/** A refusal the caller can act on: the fact, then an instruction that can be carried out in the next call. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly hint: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ProblemCode, message: string, hint: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.hint = hint
    this.details = details
  }

  /** The form every door sends when it sends JSON. */
  toJSON(): {
    error: { code: ProblemCode; message: string; hint: string; details: Readonly<Record<string, unknown>> }
  } {
    return { error: { code: this.code, message: this.message, hint: this.hint, details: this.details } }
  }
}
