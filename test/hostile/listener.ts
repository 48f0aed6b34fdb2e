import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

const FIELDS = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mno\0\0', 'latin1')
const REFUSAL = Buffer.concat([Buffer.from([0x45, 0, 0, 0, FIELDS.length + 4]), FIELDS])

/** A server that somebody else runs: it speaks as much of PostgreSQL as it takes to be given a password. */
export class Listener {
  connections = 0
  received = ''
  private readonly server: Server

  private constructor(server: Server) {
    this.server = server
  }

  static async open(): Promise<Listener> {
    const server = createServer()
    const listener = new Listener(server)
    server.on('connection', socket => {
      listener.connections++
      socket.on('error', () => {})
      socket.on('data', bytes => {
        listener.received += bytes.toString('latin1')
        const isRequestForTls = bytes.length === 8 && bytes.readInt32BE(4) === 80_877_103
        // The password as it is, please; thank you, it was wrong: a client that is refused does not try again.
        if (bytes[0] === 0x70) socket.end(REFUSAL)
        else socket.write(isRequestForTls ? 'N' : Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return listener
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  reset(): void {
    this.connections = 0
    this.received = ''
  }

  async close(): Promise<void> {
    this.server.close()
    await once(this.server, 'close')
  }
}
