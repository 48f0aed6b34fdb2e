import { closeSync, realpathSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import * as v from 'valibot'
import { isInGit, leaves, realInside } from './core/boundary.ts'
import { COMPLETION_MODES } from './core/completion.ts'
import { openNamed, readRegular, readUpTo } from './core/files.ts'
import { Problem } from './core/problem.ts'
import { configFile } from './core/state-file.ts'
import { words } from './core/words.ts'

/** What a value in a folder's settings does: anything but `none` needs the user's acceptance. */
export type Effect = 'none' | 'runs' | 'connects' | 'outside' | 'loosens'

/** What a value is judged by: the folder of punchlist.json, and the value that applies without it. */
interface Around<Value> {
  readonly root: string
  /** The user's own value, else the default. */
  readonly base: Value | undefined
}

/** What a key of punchlist.json may do to its user. */
export interface Declaration<Value> {
  readonly default: Value | undefined
  /** The effects that its values can have, each with the values that have it, in words. Empty: none. */
  readonly effects: Readonly<Partial<Record<Exclude<Effect, 'none'>, string>>>
  effectOf(value: Value, around: Around<Value>): Effect
  /** Why a value is refused, accepted or not. */
  refusalOf?(value: Value, root: string): string | undefined
}

type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>

function declare<const Schema extends AnySchema>(
  schema: Schema,
  declaration: Declaration<v.InferOutput<Schema>>,
): Declaration<v.InferOutput<Schema>> & { readonly schema: v.OptionalSchema<Schema, undefined> } {
  return { ...declaration, schema: v.optional(schema) }
}

const count = (text: string) => v.pipe(v.number(), v.integer(), v.minValue(0), v.description(text))
const folder = (text: string) => v.pipe(v.string(), v.nonEmpty(), v.description(text))
const workers = (text: string) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(64), v.description(text))

const harmless = <Value>(value: Value): Declaration<Value> => ({
  default: value,
  effects: {},
  effectOf: () => 'none',
})

const upTo = (most: number): Declaration<number> => ({
  default: most,
  effects: { loosens: 'above your own setting or the default' },
  effectOf: (value, { base = most }) => (value > base ? 'loosens' : 'none'),
})

const place = (path: string): Declaration<string> => ({
  default: path,
  effects: { outside: 'a folder outside the workspace' },
  effectOf: (value, { root }) => (leadsOut(value, root) ? 'outside' : 'none'),
  refusalOf: (value, root) =>
    resolve(root, value) === resolve(root)
      ? 'is the workspace itself: its folders need one of their own in it'
      : (intrudes(value, root, ['.git', '.punchlist']) ?? linksIntoGit(resolve(root, value), root)),
})

const SKIPPED: string[] = ['plan', 'planner']

/** The one table of the keys: the form of the value, and what it does. */
const KEYS = {
  store: declare(
    v.pipe(
      v.string(),
      v.regex(/^(?:files|sqlite:.+|postgres(?:ql)?:\/\/.+)$/, 'must be files, sqlite:PATH or postgres://…'),
      v.description('where lists live: files, sqlite:PATH (relative to this file) or postgres://…'),
    ),
    {
      default: 'files',
      effects: { connects: 'a server', outside: 'a file outside the workspace' },
      effectOf: (value, { root }) => {
        if (value === 'files' || value === 'sqlite::memory:') return 'none'
        // Whatever is not known to stay in the folder counts as a server.
        const path = /^sqlite:(.+)$/s.exec(value)?.[1]
        if (path === undefined) return 'connects'
        return leadsOut(path, root) ? 'outside' : 'none'
      },
      refusalOf: (value, root) => {
        const path = value === 'sqlite::memory:' ? undefined : /^sqlite:(.+)$/s.exec(value)?.[1]
        return path === undefined ? undefined : intrudes(path, root, ['.git'])
      },
    },
  ),
  'paths.work': declare(folder('folder of backlog and worklog files, tmp by default'), place('tmp')),
  'paths.queue': declare(folder('folder of the queue, coordination by default'), place('coordination')),
  'plan.completion': declare(
    v.pipe(v.picklist(COMPLETION_MODES), v.description('how completions are believed in turns that do not say')),
    {
      default: 'self',
      effects: { loosens: 'less strict than your own setting' },
      effectOf: (value, { base = 'self' }) =>
        COMPLETION_MODES.indexOf(value) < COMPLETION_MODES.indexOf(base) ? 'loosens' : 'none',
    },
  ),
  'plan.check': declare(
    v.pipe(
      v.string(),
      v.description('command that must exit 0 for an item to count as done, where neither it nor its turn names one'),
    ),
    {
      default: undefined,
      effects: { runs: 'always' },
      effectOf: () => 'runs',
      refusalOf: value => (words(value)?.length ? undefined : 'must be a command line with its quotes closed'),
    },
  ),
  'plan.maxChecks': declare(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description('failing runs of a check until its item waits for a person, 5 by default'),
    ),
    upTo(5),
  ),
  'plan.maxCancelled': declare(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(100),
      v.description('percent of a verified plan that is cancelled without a person, 25 by default'),
    ),
    upTo(25),
  ),
  wards: declare(
    v.pipe(
      v.array(
        v.union([
          v.string(),
          v.strictObject({
            run: v.pipe(v.string(), v.description('the command')),
            env: v.optional(
              v.pipe(
                v.array(v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable'))),
                v.description('variables of the environment that it gets beside the usual ones'),
              ),
            ),
          }),
        ]),
      ),
      v.description('commands that must exit 0'),
    ),
    { default: undefined, effects: { runs: 'always' }, effectOf: value => (value.length > 0 ? 'runs' : 'none') },
  ),
  'continuation.enabled': declare(
    v.pipe(v.boolean(), v.description('whether sessions are sent on at all, true by default')),
    {
      default: true,
      effects: { loosens: '`true` against your own `false`' },
      effectOf: (value, { base = true }) => (value && !base ? 'loosens' : 'none'),
    },
  ),
  'continuation.countdownSeconds': declare(count('before an idle session is sent on, 2 by default'), harmless(2)),
  'continuation.toastDuration': declare(count('milliseconds, 900 by default'), harmless(900)),
  'continuation.gracePeriod': declare(count('milliseconds, 500 by default'), harmless(500)),
  'continuation.maxFruitless': declare(count('injections without progress before giving up, 3 by default'), upTo(3)),
  'continuation.maxUnshortened': declare(
    count('injections in a row that leave as much open as before, before giving up, 8 by default'),
    upTo(8),
  ),
  'continuation.maxInjections': declare(count('injections until the user speaks again, 50 by default'), upTo(50)),
  'continuation.skipAgents': declare(
    v.pipe(v.array(v.string()), v.description('agents that only plan; plan and planner by default')),
    {
      default: SKIPPED,
      effects: { loosens: 'one of your own setting or the default is missing' },
      effectOf: (value, { base = SKIPPED }) => {
        const names = new Set(value.map(name => name.toLowerCase()))
        return base.every(name => names.has(name.toLowerCase())) ? 'none' : 'loosens'
      },
    },
  ),
  'run.agent': declare(v.pipe(v.string(), v.description('the agent that works on the tasks')), {
    default: undefined,
    effects: { runs: 'any but your own setting' },
    effectOf: (value, { base }) => (value === base ? 'none' : 'runs'),
  }),
  'run.workers': declare(workers('tasks that are worked on at the same time, 1 by default'), upTo(1)),
  'run.lease': declare(
    v.pipe(
      v.string(),
      v.regex(/^[1-9](?:\d{0,7}s|\d{0,6}m|\d{0,4}h|\d{0,3}d)$/, 'must be a duration such as 15m'),
      v.description('how long a claim holds without a renewal, 15m by default'),
    ),
    harmless('15m'),
  ),
}

const plan = v.optional(
  v.strictObject({
    completion: KEYS['plan.completion'].schema,
    check: KEYS['plan.check'].schema,
    maxChecks: KEYS['plan.maxChecks'].schema,
    maxCancelled: KEYS['plan.maxCancelled'].schema,
  }),
)
const continuation = v.optional(
  v.strictObject({
    enabled: KEYS['continuation.enabled'].schema,
    countdownSeconds: KEYS['continuation.countdownSeconds'].schema,
    toastDuration: KEYS['continuation.toastDuration'].schema,
    gracePeriod: KEYS['continuation.gracePeriod'].schema,
    maxFruitless: KEYS['continuation.maxFruitless'].schema,
    maxUnshortened: KEYS['continuation.maxUnshortened'].schema,
    maxInjections: KEYS['continuation.maxInjections'].schema,
    skipAgents: KEYS['continuation.skipAgents'].schema,
  }),
)
const run = v.optional(
  v.strictObject({
    agent: KEYS['run.agent'].schema,
    workers: KEYS['run.workers'].schema,
    lease: KEYS['run.lease'].schema,
  }),
)

/** punchlist.json. Everything has a default; the JSON schema that editors use is made from this. */
export const settingsSchema = v.pipe(
  v.strictObject({
    $schema: v.optional(v.string()),
    store: KEYS.store.schema,
    paths: v.optional(v.strictObject({ work: KEYS['paths.work'].schema, queue: KEYS['paths.queue'].schema })),
    plan,
    wards: KEYS.wards.schema,
    continuation,
    run,
  }),
  v.title('punchlist.json'),
)

export type Settings = v.InferOutput<typeof settingsSchema>

/** The user's config.json: defaults of their own, and limits that hold in every folder. */
export const userSettingsSchema = v.pipe(
  v.strictObject({
    $schema: v.optional(v.string()),
    plan,
    continuation,
    run,
    limits: v.optional(
      v.pipe(
        v.strictObject({
          workers: v.optional(workers('the most for run.workers')),
          maxFruitless: v.optional(count('the most for continuation.maxFruitless')),
          maxUnshortened: v.optional(count('the most for continuation.maxUnshortened')),
          maxInjections: v.optional(count('the most for continuation.maxInjections')),
        }),
        v.description('upper bounds that no folder exceeds, accepted or not'),
      ),
    ),
  }),
  v.title('config.json of punchlist'),
)

export type UserSettings = v.InferOutput<typeof userSettingsSchema>

/** The dotted names of the keys that hold a value. */
type KeyOf<T, Before extends string = ''> = {
  [K in keyof T & string]-?: NonNullable<T[K]> extends readonly unknown[]
    ? `${Before}${K}`
    : NonNullable<T[K]> extends object
      ? KeyOf<NonNullable<T[K]>, `${Before}${K}.`>
      : `${Before}${K}`
}[keyof T & string]

type ValueOf<T, Key extends string> = Key extends `${infer First}.${infer Rest}`
  ? First extends keyof T
    ? ValueOf<NonNullable<T[First]>, Rest>
    : never
  : Key extends keyof T
    ? NonNullable<T[Key]>
    : never

export type SettingsKey = Exclude<KeyOf<Settings>, '$schema'>

/** Every key with what it does. A key of the schema that is not in the table does not compile. */
export const DECLARED: { readonly [Key in SettingsKey]: Declaration<ValueOf<Settings, Key>> } = KEYS

/** The same for walking over all of them. */
export const declarations = (): readonly (readonly [SettingsKey, Declaration<unknown>])[] =>
  Object.entries(DECLARED) as [SettingsKey, Declaration<unknown>][]

/** The value of a dotted key; undefined where it is not set. */
export function valueAt(settings: Settings | UserSettings, key: SettingsKey): unknown {
  let value: unknown = settings
  for (const name of key.split('.')) value = (value as Record<string, unknown> | undefined)?.[name]
  return value
}

const LARGEST = 1024 * 1024

/** Reads a settings file; every key that is wrong is named at once. Without the file, the defaults. */
export function readSettings(file: string): Settings {
  let text: string
  try {
    // A link may lead to another file of the workspace, and nowhere else. Whose it is, trust decides.
    const real = realInside(dirname(file), file)
    const read = real === undefined ? undefined : readRegular(real, LARGEST, 'anyone')
    if (read === undefined) return {}
    text = read
  } catch (error) {
    if (error instanceof Problem) throw error
    throw unreadable(file, (error as Error).message, 'Make it readable.')
  }
  const settings = parsed(settingsSchema, text, file)
  const root = dirname(file)
  const refused = declarations().flatMap(([key, declaration]) => {
    const value = valueAt(settings, key)
    const message = value === undefined ? undefined : declaration.refusalOf?.(value, root)
    return message === undefined ? [] : [{ key, message }]
  })
  if (refused.length > 0) throw wrongKeys(file, refused)
  return settings
}

/** More than any list of settings takes. */
const LONGEST = 256 * 1024

/** The user's own settings. Links are followed: people keep such files elsewhere and link to them. Without the file, none. */
export function readUserSettings(env: Readonly<Record<string, string | undefined>> = process.env): UserSettings {
  const file = configFile('config.json', env)
  let text: string
  try {
    text = ownText(file, env)
  } catch (error) {
    if (error instanceof Problem) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    throw unreadable(file, message, 'Make it readable.')
  }
  return parsed(userSettingsSchema, text, file)
}

function ownText(file: string, env: Readonly<Record<string, string | undefined>>): string {
  const { descriptor, stats: stat } = openNamed(file)
  try {
    if (!stat.isFile()) throw unreadable(file, 'it is not a file', 'Move it away.')
    const me = process.getuid?.()
    // Root writes wherever it likes, so its files are as good as one's own; under sudo one is still oneself.
    const own = [me, 0, ...(me === 0 && env['SUDO_UID'] ? [Number(env['SUDO_UID'])] : [])]
    if (me !== undefined && !own.includes(stat.uid)) {
      throw unreadable(file, `it belongs to the user ${stat.uid}`, `Make it your own: chown ${me} ${file}`)
    }
    if (me !== undefined && stat.mode & 0o002) {
      throw unreadable(file, 'every user may write to it', `Run: chmod go-w ${file}`)
    }
    const bytes = readUpTo(descriptor, LONGEST + 1)
    if (bytes.length > LONGEST) throw unreadable(file, `it is longer than ${LONGEST} bytes`, 'Shorten it.')
    return bytes.toString('utf8')
  } finally {
    closeSync(descriptor)
  }
}

function parsed<Schema extends AnySchema>(schema: Schema, text: string, file: string): v.InferOutput<Schema> {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new Problem('bad_input', `${file} is not JSON: ${(error as Error).message}`, 'Correct it, or move it away.', {
      file,
    })
  }
  const result = v.safeParse(schema, json)
  if (result.success) return result.output
  throw wrongKeys(
    file,
    result.issues.map(issue => ({ key: v.getDotPath(issue) ?? '', message: said(issue) })),
  )
}

function wrongKeys(file: string, wrong: readonly { key: string; message: string }[]): Problem {
  return new Problem(
    'bad_input',
    `${file}: ${wrong.map(({ key, message }) => `${key || 'the file'} ${message}`).join('; ')}`,
    `Correct ${wrong.map(({ key }) => key || 'the file').join(', ')} in ${file}.`,
    { file, wrong },
  )
}

function unreadable(file: string, why: string, hint: string): Problem {
  return new Problem('unreadable_file', `${file} cannot be read: ${why}`, hint, { file })
}

function said(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === 'never') return 'is not a known key'
  return issue.kind === 'schema' ? `must be ${issue.expected}, not ${issue.received}` : issue.message
}

/** Whether a path, as it is written, leaves the folder. Links on the way are looked at when it is opened. */
function leadsOut(path: string, root: string): boolean {
  return leaves(relative(root, resolve(root, path)))
}

function intrudes(path: string, root: string, reserved: readonly string[]): string | undefined {
  if (path.includes('\0')) return 'has a NUL character in it'
  const full = resolve(root, path)
  const parts = (leadsOut(path, root) ? full : relative(root, full)).split(sep)
  const names = new Set(parts.map(asFileSystemsSee))
  const found = reserved.find(name => names.has(name) || (name === '.git' && names.has('git~1')))
  return found === undefined ? undefined : `lies in ${found}`
}

/** Links are followed as far as there is something: what is made later lies behind them. */
function linksIntoGit(path: string, root: string): string | undefined {
  try {
    const [real, top] = [realpathSync(path), realpathSync(root)]
    const inside = relative(top, real)
    return isInGit(leaves(inside) ? real : inside) ? 'leads into .git' : undefined
  } catch {
    return path === dirname(path) ? undefined : linksIntoGit(dirname(path), root)
  }
}

/** Some file systems ignore case, invisible characters, dots at the end and what follows a colon: as git guards `.git`. */
function asFileSystemsSee(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase()
}
