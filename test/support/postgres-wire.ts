import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A wire to a server on this machine, which can be cut at a chosen moment. */
export interface Wire {
  readonly port: number
  /**
   * Cuts the next connection over which `text` is sent: `request` loses what was
   * asked, `answer` lets it be carried out and loses what was answered, `client`
   * hangs up on the client at once while the server goes on.
   */
  cut(text: string, lose: 'request' | 'answer' | 'client'): Promise<void>
  /** From now on nothing passes, and nobody is told. */
  freeze(): void
  /** New connections pass again; those that were frozen never will. */
  thaw(): void
  close(): void
}

export async function wireTo(port: number): Promise<Wire> {
  const sockets = new Set<Socket>()
  let planned: { text: string; lose: 'request' | 'answer' | 'client'; done: () => void } | undefined
  let frozen = false
  const silence: (() => void)[] = []
  const server = createServer(client => {
    const far = connect(port, '127.0.0.1')
    let deaf = false
    let silent = frozen
    silence.push(() => {
      silent = true
    })
    for (const socket of [client, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    const hangUp = () => {
      client.destroy()
      far.destroy()
    }
    client.on('close', () => !deaf && far.destroy())
    far.on('close', hangUp)
    let losing: (() => void) | undefined
    client.on('data', data => {
      if (silent) return
      if (!planned || !data.includes(planned.text)) {
        far.write(data)
        return
      }
      const { lose, done } = planned
      planned = undefined
      if (lose === 'request') hangUp()
      else far.write(data)
      if (lose === 'answer') losing = done
      if (lose === 'client') {
        deaf = true
        client.destroy()
      }
      if (lose !== 'answer') done()
    })
    far.on('data', data => {
      if (silent || deaf) return
      if (!losing) {
        client.write(data)
        return
      }
      hangUp()
      losing()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    cut: (text, lose) =>
      new Promise(resolve => {
        planned = { text, lose, done: resolve }
      }),
    freeze() {
      frozen = true
      for (const one of silence) one()
    },
    thaw() {
      frozen = false
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
