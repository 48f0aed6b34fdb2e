/** What a ward result says. */
export type WardVerdict = 'passed' | 'failed' | 'unknown'

/**
 * Reads a ward result: `passed: npm test` where it was written here, anything
 * where a worker wrote it. Of one that says both, and in doubt, it is believed
 * that something failed; one that says neither tells nothing.
 */
export function wardVerdict(text: string): WardVerdict {
  // Nearly always it was written here.
  if (text.startsWith('passed: ') && !text.includes('failed')) return 'passed'
  const said = text.trim().toLowerCase()
  const own = /^(passed|not run):/.exec(said)?.[1]
  // What follows our own verdict are commands, and what somebody reported: both may be called anything.
  if (own) return own === 'not run' ? 'unknown' : /[;,]\s*failed\s*:(?!\s*0\b)/.test(said) ? 'failed' : 'passed'
  const rest = said.replace(NOTHING_FAILED, ' passed ')
  if (FAILED.test(rest)) return 'failed'
  return PASSED.test(rest) ? 'passed' : 'unknown'
}

/** `0 failed`, `no test failures`, `failures: 0`. */
const NOTHING_FAILED = /\b(?:0|no|zero) (?:\w+ )?(?:fail\w*|errors?)\b|\b(?:fail\w*|errors?)[:=\s]+0\b/g
const FAILED = /\bfail|\berror|\bbroken|\bnot (?!run|yet)\w|n['’]t (?!run)\w|\bexit[\w\s:]{0,12}?[1-9]|[❌✗✘]/u
const PASSED = /(?<!\b(?:0|no) )\bpass|\bok\b|\bgreen\b|\bsucce|\bexit[\w\s:]{0,12}?0\b|[✅✓✔]/u
