/** What a ward result says. */
export type WardVerdict = 'passed' | 'failed' | 'unknown'

/**
 * Reads a ward result: `passed: npm test` where it was written here, anything
 * where a worker wrote it. One that says both has failed; one that says neither
 * tells nothing.
 */
export function wardVerdict(text: string): WardVerdict {
  const said = text
    .toLowerCase()
    .replace(/[*_`]+/g, ' ')
    .trim()
  const ran = /fail|error/.test(said) ? said.replace(NOTHING_FAILED, ' ') : said
  const own = /^(passed|failed|not run):/.exec(said)?.[1]
  // What follows our own verdict are commands, and what somebody reported: both may be called anything.
  if (own === 'passed') return SOME_FAILED.test(ran.split(' (reported:')[0]!) ? 'failed' : 'passed'
  if (own === 'not run') return 'unknown'
  if (FAILED.test(ran)) return 'failed'
  if (NOT_RUN.test(ran)) return 'unknown'
  if (PASSED.test(ran) || ran !== said) return 'passed'
  return /\berror(?:s|ed)?\b/.test(ran) ? 'failed' : 'unknown'
}

/** `0 failed`, `no test failures`, `failures: 0`, `did not fail`. */
const NOTHING_FAILED =
  /\b(?:0|no|zero|without(?: any)?|not|never|didn['’]t)\s+(?:\w+\s+)?(?:fail(?:ed|ing|ures?)?|errors?)\b|\b(?:fail(?:ed|ing|ures?)?|errors?)(?:\s*[:=]\s*|\s+)0\b/g

/** Beside a list of what passed. */
const SOME_FAILED = /[;,]\s*failed\s*[:=]|\b[1-9]\d*\s+(?:\w+\s+)?fail(?:ed|ing|ures?)\b/

// Not `test:fail` or `fail.test.ts`, which are names.
const FAILED =
  /(?<![\w:./-])fail(?:ed|ing|s|ures?)?(?![\w./-]\w|\w)|(?:\bnot|n['’]t)\s+(?:ok|okay|green|clean|successful|pass\w*)|\bunsuccessful|\bexit(?:ed)?(?:\s+(?:code|status|with))*[\s:=]*[1-9]|\b[1-9]\d*\s+(?:\w+\s+)?errors?\b|\b(?:red|broken?|crash\w*|timed?[ -]?out)\b|[❌✗✘✖🔴⛔]/u

const NOT_RUN =
  /(?:\b(?:not|never|un)|n['’]t)\s*(?:yet\s+)?(?:been\s+)?(?:run|ran|executed|started|tested)\b|\b(?:0|no)\s+(?:tests?\s+)?pass/

const PASSED =
  /\b(?:pass(?:ed|es|ing)?|ok|okay|green|clean|success(?:ful(?:ly)?)?|succeeded)\b|\bexit(?:ed)?(?:\s+(?:code|status|with))*[\s:=]*0\b|[✅✓✔🟢👍]/u
