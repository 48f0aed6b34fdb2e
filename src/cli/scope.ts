import type { Authority } from '../core/authority.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Store } from '../core/store.ts'
import { sessionFrom } from '../hosts/scoping.ts'
import type { StoreDoor } from '../open.ts'
import type { Workspace, WorkspaceWish } from '../workspace.ts'
import type { GlobalFlags } from './arguments.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Who is asking and where, as flags and environment say it; flags win. */
export interface Asking {
  readonly wish: WorkspaceWish
  readonly by: string
  readonly scope: Caller['scope']
  /** The mark of the run that it belongs to, as its environment has it. */
  readonly mark?: string | undefined
}

export function askingFrom(globals: GlobalFlags, env: Environment, cwd: string): Asking {
  const given = (name: keyof GlobalFlags) => {
    const value = globals[name] ?? env[`PUNCHLIST_${name.toUpperCase()}`]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const named = (name: keyof GlobalFlags) => {
    const value = given(name)
    if (value === undefined || isName(value)) return value
    throw new Problem(
      'bad_input',
      `--${name} must be one line of at most 200 characters`,
      `Correct --${name}, or PUNCHLIST_${name.toUpperCase()} in the environment.`,
    )
  }
  return {
    wish: { cwd, root: given('root'), store: given('store') },
    by: named('actor') ?? env['USER'] ?? env['LOGNAME'] ?? env['USERNAME'] ?? 'someone',
    scope: {
      conversationId: named('conversation') ?? named('session') ?? hostSession(env) ?? 'default',
      turnId: named('turn'),
      session: named('session'),
      task: env['PUNCHLIST_TASK'] || undefined,
      token: tokenFrom(env),
    },
    mark: env['PUNCHLIST_RUN'],
  }
}

/** A host's own name for the session, where it can be one of ours. */
function hostSession(env: Environment): string | undefined {
  const session = sessionFrom(env)
  return session !== undefined && isName(session) ? session : undefined
}

/** Whether a text can name a conversation, a session, a turn or an actor. */
export function isName(text: string): boolean {
  return text.length <= 200 && text.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(text)
}

function tokenFrom(env: Environment): number | undefined {
  const text = env['PUNCHLIST_TOKEN']
  if (text === undefined || text === '') return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Problem(
    'bad_input',
    'PUNCHLIST_TOKEN must be a number',
    'Set it to the token that the claim gave, or unset it.',
  )
}

export function callerFor(
  asking: Asking,
  workspace: Workspace,
  door: StoreDoor,
  writes: boolean,
  who: Authority['who'] = 'person',
): Caller {
  const { root, here, work, queue, inFiles, completion } = workspace
  return {
    store: whenAsked(async () => await door.store(writes)),
    by: asking.by,
    scope: asking.scope,
    authority: async () => (await import('../core/lineage.ts')).authorityBelow(who, asking.mark),
    now: () => new Date(),
    root,
    here,
    work,
    queue,
    inFiles,
    checks: door.checks(),
    seal: () => door.seal(),
    completion,
    documents: door.documents(),
    planSettings: door.planSettings(),
    wards: door.wards(),
    continuation: workspace.settings.continuation ?? {},
    sessional: () => door.sessional(),
    warnings: () => door.warnings(false),
  }
}

/** A store that is opened when it is first asked for something: what is refused before that leaves no trace. */
function whenAsked(open: () => Promise<Store>): Store {
  let opened: Promise<Store> | undefined
  const ask = async (name: string | symbol, args: unknown[]): Promise<unknown> => {
    const store = await (opened ??= open())
    return await (Reflect.get(store, name) as (...args: unknown[]) => unknown).apply(store, args)
  }
  // What was never opened, or could not be, has nothing to warn of.
  const warnings = async () => (await opened?.catch(() => undefined))?.warnings() ?? []
  // `await` must get it as it is.
  const get = (_: Store, name: string | symbol) => {
    if (name === 'then') return undefined
    return name === 'warnings' ? warnings : (...args: unknown[]) => ask(name, args)
  }
  return new Proxy({} as Store, { get })
}
