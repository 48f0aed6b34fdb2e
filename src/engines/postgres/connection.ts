import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientConfig, Pool, PoolClient, QueryResult } from 'pg'
import { Problem } from '../../core/problem.ts'
import { addressOf, unusable } from './address.ts'
import { codeOf, isLost, isPassing, problemFor, Unconnected } from './problems.ts'

export type Row = Record<string, unknown>
export type Value = string | number | null | readonly (string | number | null)[]
export type Send = (sql: string, values?: readonly Value[]) => Promise<Row[]>

export interface ConnectionOptions {
  /** How many connections this process may hold at once. */
  readonly poolSize?: number
  /** How long the server may work, or wait for a lock, on one statement. */
  readonly statementTimeoutMs?: number
  readonly connectTimeoutMs?: number
  /** How long a call goes on trying by itself once the server cannot be reached. */
  readonly patienceMs?: number
}

/** Connects to the server a URL names. The driver is loaded here, so that whoever uses another engine need not have it. */
export async function connect(url: string, options: ConnectionOptions = {}): Promise<Connection> {
  const address = addressOf(url)
  return new Connection(await driver(), address.connectionString, address.schema, options)
}

/** Our schema on one server, through a few connections that are made when needed and made anew when they break. */
export class Connection {
  readonly schema: string
  /** The server, for people: without user and password. */
  readonly server: string
  private readonly config: ClientConfig
  private readonly pg: Driver
  private readonly pool: Pool
  private readonly patienceMs: number
  private readonly names = new Map<string, string>()

  constructor(pg: Driver, connectionString: string, schema: string, options: ConnectionOptions) {
    // A statement ends well before a call is given up, and a connection that was cut without a word is given up within
    // ten seconds: TCP itself would take minutes to notice.
    const { poolSize = 8, statementTimeoutMs = 8_000, connectTimeoutMs = 5_000, patienceMs = 5_000 } = options
    this.pg = pg
    this.patienceMs = patienceMs
    this.schema = schema
    this.config = {
      connectionString,
      fallback_application_name: 'punchlist',
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + 1_000,
      // A process that froze inside a transaction must not keep others out for longer than they wait.
      idle_in_transaction_session_timeout: Math.max(1_000, Math.min(5_000, statementTimeoutMs / 2)),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    }
    this.server = nameOf(pg, this.config)
    this.pool = new pg.Pool({ ...this.config, max: poolSize, idleTimeoutMillis: 30_000 })
    // A connection that breaks says so here as well as to whoever was using it; unheard, it would end the process.
    this.pool.on('error', () => {})
    this.pool.on('connect', client => client.on('error', () => {}))
  }

  /** Every row; what may safely be sent twice is, until there is an answer. */
  all(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.patiently(() => this.once(sql, values))
  }

  /** Sends one statement, which is a transaction of its own, and does not try again. */
  once(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.lend(client => this.send(client, sql, values))
  }

  /** Sends several statements without values, in one go and one transaction: the rows of the last. */
  async script(sql: string): Promise<Row[]> {
    const results = await this.lend(client => client.query(sql) as unknown as Promise<QueryResult<Row>[]>)
    return results.at(-1)?.rows ?? []
  }

  /** Does `work` in one transaction on one connection, and does not try again. `opening` comes right after BEGIN. */
  together<T>(opening: string, work: (send: Send) => Promise<T>): Promise<T> {
    return this.lend(async client => {
      try {
        await client.query(`BEGIN; ${opening}`)
        const result = await work((sql, values = []) => this.send(client, sql, values))
        await client.query('COMMIT')
        return result
      } catch (error) {
        if (!isLost(error)) await client.query('ROLLBACK')
        throw error
      }
    })
  }

  /** Repeats what fails in passing, for a few seconds from the first failure; what it throws is for the caller's caller. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    let failedAt: number | undefined
    for (let attempt = 0; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        failedAt ??= performance.now()
        if (!isPassing(error) || performance.now() - failedAt > this.patienceMs)
          throw tlsProblem(error, this.server) ?? problemFor(error, this.server)
        await sleep((0.5 + Math.random()) * Math.min(300, 5 * 2 ** attempt))
      }
    }
  }

  /** A connection of its own, outside the pool; whoever asked for it ends it. */
  async apart(more: ClientConfig = {}): Promise<Client> {
    const client = new this.pg.Client({ ...this.config, ...more })
    client.on('error', () => {})
    try {
      await client.connect()
    } catch (error) {
      throw new Unconnected(error)
    }
    return client
  }

  async close(): Promise<void> {
    if (!this.pool.ending) await this.pool.end()
  }

  private async lend<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient
    try {
      client = await this.pool.connect()
    } catch (error) {
      throw new Unconnected(error)
    }
    let broken = false
    try {
      return await work(client)
    } catch (error) {
      broken = isLost(error)
      throw error
    } finally {
      client.release(broken)
    }
  }

  private async send(client: PoolClient, text: string, values: readonly Value[]): Promise<Row[]> {
    let name = this.names.get(text)
    if (!name) this.names.set(text, (name = createHash('sha256').update(text).digest('base64url').slice(0, 16)))
    return (await client.query<Row>({ name, text, values: [...values] })).rows
  }
}

type Driver = Pick<typeof import('pg'), 'Client' | 'Pool'>

async function driver(): Promise<Driver> {
  try {
    return (await import('pg')).default
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Problem('unsupported_runtime', 'The PostgreSQL driver is not installed', 'npm install pg')
  }
}

function nameOf(pg: Driver, config: ClientConfig): string {
  try {
    const { host, port, database = '' } = new pg.Client(config)
    return host.startsWith('/') ? `${host}/${database}` : `${host}:${port}/${database}`
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (!code || !path) throw unusable('it is not a URL')
    // The driver reads the files of sslrootcert, sslcert and sslkey as soon as it sees the URL.
    throw new Problem(
      'store_unreachable',
      `${path}, which the URL of the PostgreSQL server names, cannot be read: ${code}`,
      'Correct sslrootcert, sslcert or sslkey in the URL, or make the file readable.',
      { file: path },
    )
  }
}

/** A server that TLS does not vouch for. The driver ends the connection before it sends user or password. */
function tlsProblem(error: unknown, server: string): Problem | undefined {
  if (!(error instanceof Unconnected)) return undefined
  const hint = tlsHint(codeOf(error.cause), error.message)
  if (hint === undefined) return undefined
  return new Problem('store_unreachable', `${server} is not trusted: ${error.message}`, hint, {
    server,
    reason: error.message,
  })
}

function tlsHint(code: string | undefined, message: string): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Name the host in the URL as the certificate does, or give the server a certificate for this host.'
  if (code !== undefined && UNVERIFIED.has(code))
    return "Name the certificate authority of the server in the URL: sslrootcert=FILE; renew the server's certificate if it has expired."
  if (message === 'The server does not support SSL connections')
    return 'Turn TLS on at the server (ssl = on), or leave sslmode out of the URL if the network is your own.'
  return undefined
}

/** What Node says of a certificate that it cannot verify. */
const UNVERIFIED = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
