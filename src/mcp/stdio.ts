import { Console } from 'node:console'
import type { McpServerFactory } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'

/**
 * Serves one client over stdin and stdout, and resolves when that client has gone: its end of either pipe
 * is closed. Requests still running then are aborted; nobody is left to read their answers.
 */
export async function serveOverStdio(factory: McpServerFactory): Promise<void> {
  // A single stray line on stdout breaks the client's parser, so whatever a library prints goes to stderr.
  globalThis.console = new Console(process.stderr)
  // The transport adds listeners for every answer a slow client has yet to read; more than ten are no leak.
  process.stdout.setMaxListeners(0)
  const connection = new Connection()
  serveStdio(factory, { transport: connection })
  await connection.gone
}

/** Closes itself on the end of stdin, on EPIPE from stdout and on a message too long to hold, and tells us. */
class Connection extends StdioServerTransport {
  readonly #gone = Promise.withResolvers<void>()
  readonly gone = this.#gone.promise

  override async close(): Promise<void> {
    await super.close()
    this.#gone.resolve()
  }
}
