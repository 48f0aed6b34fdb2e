import { existsSync, readSync } from 'node:fs'
import { type Answer, type Host, needsList, type Told } from '../hosts/event.ts'
import { hostNamed } from '../hosts/hosts.ts'
import { conversationNamed } from '../hosts/scoping.ts'
import { findWorkspace } from '../workspace.ts'
import { isName } from './scope.ts'

/** What is larger than this is not read; a host may send whole files along. */
const LARGEST = 8 * 1024 * 1024

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `punchlist hook HOST`: one event on standard input, what we have to say about
 * it in the host's own form. Whatever goes wrong here, the host is let go.
 */
export async function hook(name: string, env: Environment, cwd: string): Promise<Answer> {
  let told: Told | undefined
  try {
    const payload = payloadFrom(standardInput())
    const host = payload && (await hostFor(name, env, payload))
    if (payload && !host) throw new Error(`There is no host ${JSON.stringify(name.slice(0, 40))}`)
    told = host && readable(within(host, host.read(payload), env))
    return host && told ? await answer(host, told, payload, env, cwd) : {}
  } catch (error) {
    await failed(name, told?.event.type, error)
    return {}
  }
}

async function failed(host: string, event: string | undefined, error: unknown): Promise<void> {
  const { noteFailure } = await import('../hosts/failing.ts')
  noteFailure(host, event, error)
}

async function hostFor(name: string, env: Environment, payload: Record<string, unknown>): Promise<Host | undefined> {
  return await hostNamed(name === 'auto' ? (await import('../hosts/guessing.ts')).hostFrom(env, payload) : name)
}

async function answer(
  host: Host,
  told: Told,
  payload: Record<string, unknown>,
  env: Environment,
  cwd: string,
): Promise<Answer> {
  const folder = [host.folderFrom && env[host.folderFrom], told.cwd].find(one => one && existsSync(one)) ?? cwd
  if (host.announces) await announced(host, told, folder)
  const given = (key: string) => env[`PUNCHLIST_${key}`] || undefined
  const workspace = await findWorkspace({ cwd: folder, root: given('ROOT'), store: given('STORE') })
  const file = workspace.store.startsWith('sqlite:') ? workspace.store.slice('sqlite:'.length) : undefined
  const hasStore = file === undefined || existsSync(file)
  if (!hasStore && needsList(told.event)) return {}
  const { replyFrom } = await import('./hook-reply.ts')
  const reply = await replyFrom(workspace, { host, told, by: given('ACTOR') ?? host.name, folder, hasStore })
  return reply.type === 'nothing' ? {} : host.write(reply, payload)
}

/** For the server that the same host starts. Where it cannot be written down, the session is judged all the same. */
async function announced({ name }: Host, { session, event }: Told, folder: string): Promise<void> {
  const { announce, retire } = await import('../hosts/sessions.ts')
  try {
    if (event.type === 'ended') retire(name, session)
    else if (event.type === 'started' || event.type === 'spoke') announce(name, session, folder)
  } catch (error) {
    await failed(name, event.type, error)
  }
}

/** A conversation that was named for everything that is started there is the server's as well, and so the hook's. */
function within({ sheds = false }: Host, told: Told | undefined, env: Environment): Told | undefined {
  const named = conversationNamed(env)
  return told && named && !sheds ? { ...told, session: named } : told
}

/** A session's name is a key and nothing else, but it is shown to people. */
function readable(told: Told | undefined): Told | undefined {
  return told && told.session !== '' && isName(told.session) ? told : undefined
}

/** Undefined where nothing was sent. */
function payloadFrom(sent: string): Record<string, unknown> | undefined {
  if (sent.trim() === '') return undefined
  const json = parsed(sent)
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>
  // Not the parser's own words: they quote what was sent, which is nobody's to write down.
  throw new Error('What was sent is no event')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Read to its end, so that the host can finish writing, and kept only while it can be an event. */
function standardInput(): string {
  const chunks: Buffer[] = []
  const chunk = Buffer.allocUnsafe(64 * 1024)
  for (let size = 0; ; ) {
    const count = readSome(chunk)
    if (count === 0 && size > LARGEST) throw new Error(`What was sent is larger than ${LARGEST} bytes`)
    if (count === 0) return Buffer.concat(chunks).toString('utf8')
    size += count
    if (size <= LARGEST) chunks.push(Buffer.from(chunk.subarray(0, count)))
  }
}

function readSome(chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(0, chunk)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}
