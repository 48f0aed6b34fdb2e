import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { punchlist, refusal } from '../support/cli.ts'
import { PASSWORD, startPostgres, type TestServer } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const file = (name: string) => join(import.meta.dirname, '../fixtures/tls', name)
const verified = (url: string, ca = 'ca.pem') => `${url}?schema=tls&sslmode=verify-full&sslrootcert=${file(ca)}`
const at = (port: number | string, host = '127.0.0.1') => `postgres://postgres@${host}:${port}/postgres`

/** As a user has it: the address and the password in the environment. */
const asking = (store: string) => ({ cwd: scratch(), env: { PUNCHLIST_STORE: store, PGPASSWORD: PASSWORD } })

describe('PostgreSQL over TLS', () => {
  let server: TestServer
  let elsewhere: TestServer
  beforeAll(async () => {
    server = await startPostgres({ cert: file('server.pem'), key: file('server.key') })
    elsewhere = await startPostgres({ cert: file('elsewhere.pem'), key: file('elsewhere.key') })
  })
  afterAll(async () => await Promise.all([server.stop(), elsewhere.stop()]))

  test.each(['127.0.0.1', 'localhost'])(
    'a server whose certificate is for %s and from our authority is used',
    async host => {
      const around = asking(verified(at(server.port, host)))
      expect(await punchlist(['plan', 'add', 'One'], around)).toMatchObject({ status: 0, stderr: '' })
      expect((await punchlist(['plan', 'list'], around)).stdout).toContain('One')
    },
  )

  test('a certificate for another host is refused', async () => {
    const refused = await refusal(['plan', 'add', 'One'], asking(verified(at(elsewhere.port))))
    expect(refused).toMatchObject({ status: 9, code: 'store_unreachable' })
    expect(refused.message).toContain('127.0.0.1 is not in the cert')
    expect(refused.hint).toContain('certificate')
  })

  test('a certificate of another authority is refused', async () => {
    const refused = await refusal(['plan', 'add', 'One'], asking(verified(at(server.port), 'other-ca.pem')))
    expect(refused).toMatchObject({ status: 9, code: 'store_unreachable' })
    expect(refused.hint).toContain('sslrootcert')
  })

  test('without our authority a certificate of its own is refused', async () => {
    const refused = await refusal(['plan', 'add', 'One'], asking(`${at(server.port)}?sslmode=verify-full`))
    expect(refused).toMatchObject({ status: 9, code: 'store_unreachable' })
    expect(refused.hint).toContain('sslrootcert')
  })

  test('a server without TLS is refused', async () => {
    const refused = await refusal(['plan', 'add', 'One'], asking(verified(at(new URL(inject('postgres')).port))))
    expect(refused).toMatchObject({ status: 9, code: 'store_unreachable' })
    expect(refused.hint).toContain('sslmode')
  })

  test('an authority that cannot be read is refused', async () => {
    const refused = await refusal(['plan', 'add', 'One'], asking(verified(at(server.port), 'nowhere.pem')))
    expect(refused).toMatchObject({ status: 9, code: 'store_unreachable' })
    expect(refused.message).toContain('nowhere.pem')
  })

  test.each([
    ['wrong certificate', 'elsewhere', 'ca.pem'],
    ['unknown authority', 'server', 'other-ca.pem'],
    ['none at all', undefined, 'ca.pem'],
  ])('the password is not sent to a server with %s', async (_, certificate, ca) => {
    const eavesdropper = await listening(certificate)
    await refusal(['plan', 'add', 'One'], asking(verified(at(eavesdropper.port), ca)))
    expect(eavesdropper.connections()).toBeGreaterThan(0)
    expect(eavesdropper.heard()).toBe('')
    eavesdropper.close()
  })

  test('the eavesdropper would hear the password of a client that does not look', async () => {
    const eavesdropper = await listening('elsewhere')
    await refusal(['plan', 'add', 'One'], asking(`${at(eavesdropper.port)}?sslmode=no-verify`))
    expect(eavesdropper.heard()).toContain(PASSWORD)
    eavesdropper.close()
  })
})

const FIELDS = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mno\0\0', 'latin1')
const REFUSAL = Buffer.concat([Buffer.from([0x45, 0, 0, 0, FIELDS.length + 4]), FIELDS])

/** Speaks PostgreSQL as far as the password, which it asks for as it is; what it hears is what came in the clear or through TLS. */
async function listening(certificate: string | undefined) {
  let heard = ''
  let connections = 0
  const server = createServer(socket => {
    connections++
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(certificate ? 'S' : 'N')
      const { cert, key } = { cert: `${certificate}.pem`, key: `${certificate}.key` }
      const plain = certificate
        ? new TLSSocket(socket, {
            isServer: true,
            secureContext: createSecureContext({ cert: readFileSync(file(cert)), key: readFileSync(file(key)) }),
          })
        : socket
      plain.on('error', () => {})
      plain.on('data', bytes => {
        heard += bytes.toString('latin1')
        if (bytes[0] === 0x70) plain.end(REFUSAL)
        else plain.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, heard: () => heard, connections: () => connections, close: () => server.close() }
}
