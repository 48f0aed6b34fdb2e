import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { COMPLETION_MODES } from './core/completion.ts'
import { Problem } from './core/problem.ts'

const count = (text: string) => v.pipe(v.number(), v.integer(), v.minValue(0), v.description(text))
const folder = (text: string) => v.pipe(v.string(), v.nonEmpty(), v.description(text))

/** punchlist.json. Everything has a default; the JSON schema that editors use is made from this. */
export const settingsSchema = v.pipe(
  v.strictObject({
    $schema: v.optional(v.string()),
    store: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^(?:files|sqlite:.+|postgres(?:ql)?:\/\/.+)$/, 'must be files, sqlite:PATH or postgres://…'),
        v.description('where lists live: files, sqlite:PATH (relative to this file) or postgres://…'),
      ),
    ),
    paths: v.optional(
      v.strictObject({
        work: v.optional(folder('folder of backlog and worklog files, tmp by default')),
        queue: v.optional(folder('folder of the queue, coordination by default')),
      }),
    ),
    plan: v.optional(
      v.strictObject({
        completion: v.optional(
          v.pipe(v.picklist(COMPLETION_MODES), v.description('how completions are believed in turns that do not say')),
        ),
      }),
    ),
    wards: v.optional(v.pipe(v.array(v.string()), v.description('commands that must exit 0'))),
    continuation: v.optional(
      v.strictObject({
        enabled: v.optional(v.pipe(v.boolean(), v.description('whether sessions are sent on at all, true by default'))),
        countdownSeconds: v.optional(count('before an idle session is sent on, 2 by default')),
        toastDuration: v.optional(count('milliseconds, 900 by default')),
        gracePeriod: v.optional(count('milliseconds, 500 by default')),
        maxFruitless: v.optional(count('injections without progress before giving up, 3 by default')),
        maxUnshortened: v.optional(
          count('injections in a row that leave as much open as before, before giving up, 8 by default'),
        ),
        maxInjections: v.optional(count('injections until the user speaks again, 50 by default')),
        skipAgents: v.optional(
          v.pipe(v.array(v.string()), v.description('agents that only plan; plan and planner by default')),
        ),
      }),
    ),
    run: v.optional(
      v.strictObject({
        agent: v.optional(v.string()),
        workers: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
        lease: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,8}[smhd]$/, 'must be a duration such as 15m'))),
      }),
    ),
  }),
  v.title('punchlist.json'),
)

export type Settings = v.InferOutput<typeof settingsSchema>

/** Reads a settings file; every key that is wrong is named at once. Without the file, the defaults. */
export function readSettings(file: string): Settings {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Problem('unreadable_file', `${file} cannot be read: ${(error as Error).message}`, 'Make it readable.', {
      file,
    })
  }
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new Problem('bad_input', `${file} is not JSON: ${(error as Error).message}`, 'Correct it, or move it away.', {
      file,
    })
  }
  const result = v.safeParse(settingsSchema, json)
  if (result.success) return result.output
  const wrong = result.issues.map(issue => ({ key: v.getDotPath(issue) ?? '', message: said(issue) }))
  throw new Problem(
    'bad_input',
    `${file}: ${wrong.map(({ key, message }) => `${key || 'the file'} ${message}`).join('; ')}`,
    `Correct ${wrong.map(({ key }) => key || 'the file').join(', ')} in ${file}.`,
    { file, wrong },
  )
}

function said(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === 'never') return 'is not a known key'
  return issue.kind === 'schema' ? `must be ${issue.expected}, not ${issue.received}` : issue.message
}
