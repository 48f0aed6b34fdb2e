import { Problem } from '../core/problem.ts'
import { conversationNamed, SCOPE_FIELD, sessionFrom, sessionOfCall } from '../hosts/scoping.ts'
import { type Call, serverFactory } from '../mcp/server.ts'
import { StoreDoor } from '../open.ts'
import { ROOM_NAMES, toolsOf } from '../operations.ts'
import { findWorkspace, type Workspace, type WorkspaceWish } from '../workspace.ts'
import type { GlobalFlags } from './arguments.ts'
import { programVersion } from './commands.ts'
import type { Surroundings } from './main.ts'
import { askingFrom, callerFor, isName } from './scope.ts'

/** `punchlist mcp`: serves until the client has gone, or until it is stopped. */
export async function serve(
  fields: Record<string, unknown>,
  globals: GlobalFlags,
  around: Surroundings,
): Promise<number> {
  const asking = askingFrom(globals, around.env, around.cwd)
  const tools = await chosen(typeof fields['tools'] === 'string' ? fields['tools'] : 'plan')
  // Refused at the start, where somebody reads it, and not at the first call.
  await findWorkspace(asking.wish)
  const workspaces = new Workspaces(asking.wish)
  const factory = serverFactory({
    tools,
    version: await programVersion(),
    hostFields: [SCOPE_FIELD],
    callerFor: async (writes, { requestInfo }, call) => {
      const headers = requestInfo?.headers
      const header = (name: string) => headers?.get(`punchlist-${name}`) ?? undefined
      const names = ['conversation', 'session', 'turn', 'actor'] as const
      const own = headers ? Object.fromEntries(names.map(name => [name, header(name)])) : {}
      const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
      const meant = headers ? {} : await meantByHost(call, globals, around.env)
      const { workspace, door } = await workspaces.at(meant.cwd ?? around.cwd)
      const flags = { ...globals, ...given, ...(meant.session ? { conversation: meant.session } : {}) }
      return callerFor(askingFrom(flags, around.env, around.cwd), workspace, door, writes, 'model')
    },
  })
  try {
    if (fields['http']) await overHttp(factory, fields['port'], globals, around)
    else await overStdio(factory, around)
    return 0
  } finally {
    await workspaces.close()
  }
}

/** The session, and the folder, that the host means which started this server: where nobody has named a conversation. */
async function meantByHost(
  call: Call,
  { conversation, session }: GlobalFlags,
  env: Surroundings['env'],
): Promise<{ session?: string | undefined; cwd?: string | undefined }> {
  if (conversation ?? session ?? conversationNamed(env)) return {}
  const own = sessionFrom(env)
  const { announcedSession, folderOf } = await import('../hosts/sessions.ts')
  // Some hosts start the server of a plugin in the folder of the plugin.
  const cwd = own === undefined ? undefined : folderOf('copilot', own)
  const told = sessionOfCall(env, call) ?? own ?? announcedSession()?.session
  return { cwd, session: told !== undefined && isName(told) ? told : undefined }
}

/** The workspaces that calls are about, each opened once. */
class Workspaces {
  private readonly wish: WorkspaceWish
  private readonly opened = new Map<string, Promise<{ workspace: Workspace; door: StoreDoor }>>()

  constructor(wish: WorkspaceWish) {
    this.wish = wish
  }

  async at(cwd: string): Promise<{ workspace: Workspace; door: StoreDoor }> {
    const present = this.opened.get(cwd) ?? this.open(cwd)
    this.opened.set(cwd, present)
    return await present
  }

  async close(): Promise<void> {
    for (const opened of this.opened.values()) await (await opened).door.close()
  }

  private async open(cwd: string): Promise<{ workspace: Workspace; door: StoreDoor }> {
    const workspace = await findWorkspace({ ...this.wish, cwd })
    return { workspace, door: new StoreDoor(workspace) }
  }
}

async function overStdio(factory: ReturnType<typeof serverFactory>, { terminal }: Surroundings): Promise<void> {
  const { serveOverStdio } = await import('../mcp/stdio.ts')
  if (process.stdin.isTTY) terminal.err('punchlist speaks MCP here, for a host that starts it. Ctrl-C ends it.')
  await serveOverStdio(factory)
}

async function overHttp(
  factory: ReturnType<typeof serverFactory>,
  wanted: unknown,
  globals: GlobalFlags,
  { terminal, env }: Surroundings,
): Promise<void> {
  const { serveOverHttp } = await import('../mcp/http.ts')
  const port = typeof wanted === 'number' ? wanted : 0
  const token = env['PUNCHLIST_MCP_TOKEN'] || (await import('node:crypto')).randomBytes(32).toString('base64url')
  const server = await serveOverHttp(factory, { port, token }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
    throw new Problem(
      'bad_input',
      `Port ${port} cannot be used: ${error.code}`,
      'Name another one with --port, or none for any free one.',
    )
  })
  if (globals.json) terminal.out(JSON.stringify({ url: server.url, token }))
  else terminal.err(`punchlist serves MCP at ${server.url}\nSend with every request: Authorization: Bearer ${token}`)
  const { interrupted } = terminal
  await new Promise<void>(resolve => interrupted.addEventListener('abort', () => resolve(), { once: true }))
  await server.close()
}

async function chosen(names: string) {
  const sets = names.split(',').map(name => name.trim())
  const tools = await Promise.all(sets.map(name => toolsOf(name)))
  const wrong = sets.filter((_, index) => tools[index]!.length === 0)
  if (wrong.length === 0) return tools.flat()
  const all = await Promise.all(ROOM_NAMES.map(async name => ((await toolsOf(name)).length > 0 ? name : '')))
  throw new Problem(
    'bad_input',
    `There is no tool set ${wrong.map(name => `"${name.slice(0, 40)}"`).join(', ')}`,
    `Use one or more of: ${all.filter(Boolean).join(', ')}.`,
    { wrong },
  )
}
