import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, test } from 'vitest'
import { pidNamespace, renderWorker, thisProcess, type Worker } from '../../src/core/process.ts'
import { open } from '../../src/library.ts'
import { HOME, punchlist } from '../support/cli.ts'
import { type Recovery, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

const at = (cwd: string, ...parts: string[]) => join(cwd, 'coordination', ...parts)
const namesIn = (cwd: string, state: string) => readdirSync(at(cwd, state)).toSorted()

describe('a claim of a script between its mv and its touch', () => {
  async function moved() {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B'])
    renameSync(at(cwd, 'to_execute/req_0001_a'), at(cwd, 'in_progress/req_0001_a'))
    return { cwd, typist }
  }

  test('is left alone by recover and by run for a minute', async () => {
    const { cwd, typist } = await moved()
    expect((await typist.run<Recovery>('recover')).recovered).toEqual([])
    expect((await punchlist(['run', '--', 'true'], { cwd })).status).toBe(0)
    expect(namesIn(cwd, 'in_progress')).toEqual(['req_0001_a'])
    writeFileSync(at(cwd, 'in_progress/req_0001_a/req_0001_20260125T143022_started'), '')
    expect((await typist.run<Recovery>('recover', '--grace', '0s')).recovered).toEqual([])
    expect(await typist.show('1')).toMatchObject({ state: 'in_progress', owner: null })
  })

  test('is given back once the grace period is over', async () => {
    const { cwd, typist } = await moved()
    const { recovered } = await typist.run<Recovery>('recover', '--grace', '0s')
    expect(recovered).toMatchObject([{ id: 'req_0001', from: 'in_progress', to: 'to_execute' }])
    expect(namesIn(cwd, 'to_execute')).toEqual(['req_0001_a', 'req_0002_b'])
    expect((await typist.refused('recover', '--grace', 'soon')).status).toBe(2)
  })

  test('has the same grace period in the library and over MCP', async () => {
    const { cwd } = await moved()
    const library = await open({ root: cwd, store: 'files' })
    expect((await library.queue.recover()).recovered).toEqual([])
    expect((await library.queue.recover({ grace: '0s' })).recovered).toMatchObject([{ id: 'req_0001' }])
    await library.close()
    renameSync(at(cwd, 'to_execute/req_0001_a'), at(cwd, 'in_progress/req_0001_a'))
    const client = new Client({ name: 'test', version: '1' })
    const args = [join(import.meta.dirname, '../../bin/punchlist.js'), 'mcp', '--tools', 'queue']
    const env = { PATH: process.env['PATH'] ?? '', HOME: HOME(), USER: 'tester' }
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }))
    const recover = async (input: object) =>
      (await client.callTool({ name: 'queue_recover', arguments: { ...input } })).structuredContent
    expect(await recover({})).toMatchObject({ recovered: [] })
    expect(await recover({ grace: '0s' })).toMatchObject({ recovered: [{ id: 'req_0001' }] })
    await client.close()
  })
})

test('a parent gets the link to a part that a script completes, with the next look', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['Parent'])
  await typist.add(['First', 'Second'], '--parent', 'req_0001')
  renameSync(at(cwd, 'to_execute/req_0001_01_first'), at(cwd, 'completed/req_0001_01_first'))
  await typist.list()
  const link = at(cwd, 'to_execute/req_0001_parent/req_0001_01_first')
  expect(readlinkSync(link)).toBe('../../completed/req_0001_01_first')
  rmSync(link)
  await typist.run('recover')
  expect(existsSync(join(link, 'req_0001_01_first.md'))).toBe(true)
})

describe('a claimed task whose file cannot be read', () => {
  test.each([
    ['complete', ['--token', '1', '--note', 'done'], 'completed'],
    ['fail', ['--token', '1', '--type', 't', '--what', 'w'], 'error'],
    ['return', ['--token', '1'], 'to_execute'],
    ['cancel', ['--reason', 'r'], 'cancelled'],
    ['heartbeat', ['--token', '1'], 'in_progress'],
    ['checkpoint', ['--token', '1', '--summary', 's'], 'in_progress'],
    ['recover', [], 'in_progress'],
  ] as const)('can be acted on: %s', async (verb, flags, state) => {
    const directory = at('', 'in_progress/req_0001_a')
    for (const damage of [join(directory, 'req_0001_a.md'), directory]) {
      const cwd = scratch()
      const typist = new Typist(cwd)
      await typist.add(['A', 'B'])
      const text = readFileSync(at(cwd, 'to_execute/req_0001_a/req_0001_a.md'), 'utf8')
      await typist.claim('w1')
      rmSync(join(cwd, damage), { recursive: true })
      expect((await typist.list()).warnings).toMatchObject([{ file: 'coordination/in_progress/req_0001_a' }])
      await typist.run(verb, ...(verb === 'recover' ? [] : ['1']), ...flags)
      expect(await typist.show('1')).toMatchObject({ state, title: 'A' })
      await typist.run('recover')
      expect(readFileSync(at(cwd, state, 'req_0001_a/req_0001_a.md'), 'utf8')).toBe(text)
      expect(await typist.list()).toMatchObject({ warnings: [] })
      expect((await typist.claim('w2')).id).toBe(state === 'to_execute' ? 'req_0001' : 'req_0002')
    }
  })

  test('waits for the next claim with the text that it had at the last one', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A'])
    await typist.claim('w1')
    await typist.run('return', '1')
    const file = at(cwd, 'to_execute/req_0001_a/req_0001_a.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace('#0001: A', '#0001: Another'))
    await typist.claim('w2')
    rmSync(at(cwd, 'in_progress/req_0001_a/req_0001_a.md'))
    await typist.run('return', '1')
    expect(await typist.show('1')).toMatchObject({ title: 'Another' })
  })
})

const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0

describe('a directory in the hands of a process', () => {
  const there = async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A'])
    return { cwd, typist }
  }

  test.each<[string, Partial<Worker>, number]>([
    ['of another PID namespace stays there', { pid: 2 ** 22, namespace: '1' }, 0],
    ['of this PID namespace that has ended comes back', { pid: 2 ** 22, namespace: pidNamespace() }, 1],
    ['of an older program that has ended comes back', { pid: 2 ** 22, namespace: undefined }, 1],
  ])('%s', async (_, worker, listed) => {
    const { cwd, typist } = await there()
    const mark = renderWorker({ ...thisProcess(), ...worker })
    renameSync(at(cwd, 'to_execute/req_0001_a'), at(cwd, `.punchlist/private/req_0001_a~to_execute~${mark}.1`))
    expect((await typist.run<Recovery>('recover')).recovered).toHaveLength(listed)
    expect(namesIn(cwd, 'to_execute')).toHaveLength(listed)
  })

  test.skipIf(!canUnshare)(
    'of a container that shares the folder stays there (where PID namespaces can be made)',
    async () => {
      const { cwd, typist } = await there()
      const holder = join(import.meta.dirname, '../support/directory-holder.ts')
      const words = ['--pid', '--fork', '--mount-proc', process.execPath, holder, cwd, 'to_execute', 'req_0001_a']
      const child = spawn('unshare', words, { stdio: ['pipe', 'pipe', 'inherit'] })
      await once(child.stdout, 'data')
      expect((await typist.run<Recovery>('recover')).recovered).toEqual([])
      expect(namesIn(cwd, '.punchlist/private')).toHaveLength(1)
      child.stdin.end()
      expect(await once(child, 'close')).toEqual([0, null])
      expect(namesIn(cwd, 'to_execute')).toEqual(['req_0001_a'])
    },
  )
})

test('recover goes on where one task cannot be moved', async () => {
  const cwd = scratch()
  const typist = new Typist(cwd)
  await typist.add(['A', 'B', 'C'])
  for (const name of ['req_0001_a', 'req_0002_b']) renameSync(at(cwd, 'to_execute', name), at(cwd, 'in_progress', name))
  for (const id of ['req_0001', 'req_0002'])
    writeFileSync(at(cwd, `in_progress/${id}_${id === 'req_0001' ? 'a' : 'b'}/${id}_20260125T143022_completed`), '')
  execFileSync('mkdir', [at(cwd, 'completed/req_0001_a')])
  expect((await typist.run<Recovery>('recover')).recovered).toMatchObject([{ id: 'req_0002', to: 'completed' }])
  expect((await typist.claim('w')).id).toBe('req_0003')
})
