import * as v from 'valibot'
import type { Authority } from './authority.ts'
import type { CompletionMode } from './completion.ts'
import type { Kind } from './kind.ts'
import { Problem } from './problem.ts'
import type { Store, Unreadable } from './store.ts'
import { findUnknownFields } from './unknown-fields.ts'
import type { Ward } from './wards.ts'

/** Where an operation takes place. Filled in by the door from the environment: a model never supplies its own scope. */
export interface Scope {
  readonly conversationId: string
  /** Absent: the turn that is open in this conversation. */
  readonly turnId?: string | undefined
  /** The session whose files are meant; absent: the newest. */
  readonly session?: string | undefined
  /** The fencing token of the item that is worked on, and that item if it is named. */
  readonly token?: number | undefined
  readonly task?: string | undefined
}

/** Documents that are made of what is stored: files in the folder of the work, whatever keeps the rest. */
export interface Documents {
  /** The text of a document; undefined where there is none. */
  read(path: string): Promise<string | undefined>
  write(path: string, text: string): Promise<void>
  /** Why nothing can be written in a folder at the moment; undefined where it can. */
  hindrance(folder: string): Promise<Problem | undefined>
}

/** The commands that must exit 0 for work to be good, as this workspace has them. */
export interface Wards {
  readonly commands: readonly Ward[]
  /** Whether they are this user's, and may be run. */
  readonly mayRun: () => Promise<boolean>
}

/** A command word by word: it is run without a shell. */
export type Command = readonly string[]

/** Whose the check commands are that are kept in the store: that decides whether they are run. */
export interface Checks {
  /** Whether a command is this user's, and may be run. */
  readonly mayRun: (command: Command) => Promise<boolean>
  /** Notes that this user wants a command to be run here. */
  readonly accept: (command: Command) => Promise<void>
  /** Notes, before they are stored, that commands came from elsewhere. Returns those that are run only once accepted. */
  readonly holdBack: (commands: readonly Command[]) => Promise<readonly Command[]>
}

/** What the settings say about the plan. */
export interface PlanSettings {
  /** The check for items whose turn has none, and whether it is this user's and may be run. */
  readonly check?: { readonly command: Command; readonly mayRun: () => Promise<boolean> } | undefined
  /** How often a check fails until its item waits for a person. */
  readonly maxChecks?: number | undefined
  /** Percent of a verified plan that is cancelled without a person. */
  readonly maxCancelled?: number | undefined
}

/** How sessions are sent on while their plan is open, as far as this workspace sets it. */
export interface ContinuationSettings {
  readonly enabled?: boolean | undefined
  readonly countdownSeconds?: number | undefined
  readonly toastDuration?: number | undefined
  readonly gracePeriod?: number | undefined
  readonly maxFruitless?: number | undefined
  readonly maxUnshortened?: number | undefined
  readonly maxInjections?: number | undefined
  readonly skipAgents?: readonly string[] | undefined
}

/** Who is asking, where, and with what at hand. */
export interface Caller {
  readonly store: Store
  readonly by: string
  readonly scope: Scope
  /** Who acts. Finding out may mean looking at the processes above: asked only where a claim is written about. */
  readonly authority: () => Promise<Authority>
  readonly now: () => Date
  /** The workspace's folder. */
  readonly root: string
  /** The same folder in the worktree that the caller works in: where commands are run. */
  readonly here: string
  /** The folder of the files of backlog and worklog, below the root. */
  readonly work: string
  /** The folder of the tasks' directories, below the root. */
  readonly queue: string
  /** Whether lists that have a form as files are kept in files. */
  readonly inFiles: boolean
  readonly checks: Checks
  /** What this user's own files in this workspace carry; undefined before the first write. A file without it is data. */
  readonly seal: () => string | undefined
  /** The completion mode of turns that do not name one. */
  readonly completion: CompletionMode
  readonly planSettings: PlanSettings
  /** When the user last spoke, where the caller knows: what was planned before that is the user's business by now. */
  readonly spokenAt?: string | undefined
  /** Ends what is being waited for, with an error, when aborted. */
  readonly signal?: AbortSignal | undefined
  readonly documents: Documents
  readonly wards: Wards
  readonly continuation: ContinuationSettings
  /** The kinds whose items belong to sessions. */
  readonly sessional: () => Promise<readonly Kind[]>
  /** What a reader has to know of the store that was just read: that it came with the folder, which settings are not in effect. */
  readonly warnings: () => readonly string[]
}

/** An answer must fit a model's context: a page ends early when its items are long. */
export const PAGE_CHARACTERS = 60_000

type Entries = v.ObjectEntries
export type InputSchema = v.ObjectSchema<Entries, undefined>
export type OutputSchema = v.GenericSchema<unknown, Readonly<Record<string, unknown>>>

/** How the command line writes an input whose shape is not the operation's own. */
interface CommandForm {
  readonly args: () => InputSchema
  /** Turns arguments into the operation's input; `read` gives the text of a file, or of standard input for `-`. */
  readonly input: (args: Readonly<Record<string, unknown>>, read: (file: string) => Promise<string>) => Promise<unknown>
}

export interface Operation<I = unknown, O = unknown> {
  /** The name models and programs call it by. */
  readonly name: string
  /** The words of its command. */
  readonly command: string
  readonly summary: string
  /** One line that can be pasted. */
  readonly example: string
  /** The tool set it is offered in; absent where models have no business. */
  readonly tools?: string
  /** Schemas are functions: a start needs one of them, and making all would cost it a twentieth of its time. */
  readonly input: () => InputSchema
  /** What a model may send, where that is less than everyone else may. */
  readonly toolInput?: () => InputSchema
  readonly output: () => OutputSchema
  readonly positional?: readonly string[]
  readonly form?: CommandForm
  /** What people are shown of an answer may be less than what programs get: input that asks for no more than that. */
  readonly brief?: Readonly<Record<string, unknown>>
  /** The field of the answer that is a document, where one is: the command line prints it as it is. */
  readonly document?: string
  /** Whether it leaves the store as it is: then a missing one is not made. */
  readonly readOnly?: boolean | ((input: unknown) => boolean)
  run(caller: Caller, input: I): Promise<O>
  /** Where it makes sense to go on telling: each answer as it comes, until the signal. */
  follow?(caller: Caller, input: I, signal: AbortSignal): AsyncIterable<O>
}

export type OperationSpec<S extends InputSchema, R extends OutputSchema> = Omit<
  Operation<v.InferOutput<S>, v.InferOutput<R>>,
  'input' | 'output'
> & { input: () => S; output: () => R }

/** Writes an operation down once; every door offers it from there. */
export function operation<const S extends InputSchema, const R extends OutputSchema>(
  spec: OperationSpec<S, R>,
): Operation<v.InferOutput<S>, v.InferOutput<R>> & { input: () => S; output: () => R } {
  return { ...spec, run: concealed(spec), input: once(spec.input), output: once(spec.output) }
}

/** What an agent of a run writes is kept and read by others: the values of its secret variables are taken out. */
function concealed<I, O>({ run, readOnly }: Pick<Operation<I, O>, 'run' | 'readOnly'>): Operation<I, O>['run'] {
  return async (caller, input) => {
    if (readOnly === true || process.env['PUNCHLIST_RUN'] === undefined) return await run(caller, input)
    const { concealedIn, concealing } = await import('./secrets.ts')
    return await run(caller, concealedIn(input, concealing(process.env)))
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Whether an operation, given this input, changes what is stored. */
export function writesWith(op: Operation, input: unknown): boolean {
  return typeof op.readOnly === 'function' ? !op.readOnly(input) : !op.readOnly
}

/** Checks an input and carries the operation out. Everything wrong with the input is named at once. */
export async function perform<I, O>(op: Operation<I, O>, caller: Caller, input: unknown): Promise<O> {
  return await carryOut(op, caller, checked(op.input(), input) as I)
}

/** Carries an operation out, and adds what the store warns of to the `warnings` of the answer. */
export async function carryOut<I, O>(op: Operation<I, O>, caller: Caller, input: I): Promise<O> {
  const answer = await op.run(caller, input)
  // The plan is in no files: its commands start hundreds of times a day and ask for nothing more.
  if (op.command.startsWith('plan ')) return answer
  const warned = await caller.store.warnings()
  if (warned.length === 0) return answer
  const { warnings = [] } = answer as { warnings?: readonly Unreadable[] }
  return { ...answer, warnings: [...warnings, ...warned] }
}

/** Refuses what does not fit, and fields that the schema does not have: one that is misspelt must not be taken for absent. */
export function checked<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input)
  const unknown = findUnknownFields(schema, input)
  if (result.success && unknown.length === 0) return result.output
  const unfit = (result.issues ?? []).map(issue => ({ field: v.getDotPath(issue) ?? '', message: said(issue) }))
  const wrong = [...unknown, ...unfit]
  const told = wrong.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  throw new Problem(
    'bad_input',
    told.join('; '),
    `Correct ${listed(wrong.map(({ field }) => field))} and send it again.`,
    {
      wrong,
    },
  )
}

function said(issue: v.BaseIssue<unknown>): string {
  if (issue.input === undefined) return 'is missing'
  if (issue.kind === 'schema') return `must be ${issue.expected ?? issue.type}, got ${shortened(issue.received)}`
  return issue.message
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function listed(fields: readonly string[]): string {
  const named = [...new Set(fields.filter(Boolean))]
  return named.length > 0 ? named.join(', ') : 'the input'
}
