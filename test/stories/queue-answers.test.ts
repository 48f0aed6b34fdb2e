import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { ENGINES } from '../support/backlog.ts'
import { everywhere, HOME } from '../support/cli.ts'
import { path, Typist } from '../support/queue.ts'
import { scratch } from '../support/scratch.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/punchlist.js')
const FAILED = ['--type', 'build', '--what', 'the compiler crashes', '--tried', 'an older one']

describe.each(ENGINES)('a second answer about a task, on %s', (_engine, environment) => {
  let cwd: string
  let typist: Typist
  beforeEach(async () => {
    everywhere.env = environment()
    cwd = scratch()
    typist = new Typist(cwd)
    await typist.add(['A', 'B', 'C'])
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('to `complete` is refused with what is recorded when it says something else, and answered when it is the same', async () => {
    const note = 'converted\n\n## Notes\n\n214 tests green'
    await typist.claim('w1')
    const first = await typist.run('complete', '1', '--token', '1', '--note', note)
    for (const again of [['--note', note], ['--note', `\n${note}\n`], []])
      expect(await typist.run('complete', '1', '--token', '1', ...again)).toEqual(first)
    const refused = await typist.refused('complete', '1', '--token', '1', '--note', 'converted')
    expect(refused).toMatchObject({ status: 5, code: 'move_refused', details: { id: 'req_0001', from: 'completed' } })
    expect(refused.message).toBe(`task req_0001 is completed already, with another note: ${note}`)
    expect(refused.hint).toContain('add a new')
    const { texts, ...shown } = await typist.show('1')
    expect(path(shown as never)).toEqual(['to_execute', 'in_progress', 'completed'])
    expect(texts['execution_log.md']!.match(/ - completed$/gm)).toHaveLength(1)

    await typist.claim('w1', '2')
    await typist.run('complete', '2')
    expect(await typist.refused('complete', '2', '--note', 'late')).toMatchObject({
      status: 5,
      message: 'task req_0002 is completed already, without a note',
    })
  })

  test('to `fail` is refused in the same way, until the task is tried again', async () => {
    await typist.claim('w1')
    const first = await typist.run('fail', '1', '--token', '1', ...FAILED)
    expect(await typist.run('fail', '1', '--token', '1', ...FAILED)).toEqual(first)
    expect(await typist.run('fail', '1', '--token', '1', ...FAILED.slice(0, 4))).toEqual(first)
    for (const other of [
      ['--type', 'test', '--what', 'the compiler crashes'],
      ['--type', 'build', '--what', 'it does not'],
      [...FAILED.slice(0, 4), '--tried', 'a newer one'],
    ]) {
      const refused = await typist.refused('fail', '1', '--token', '1', ...other)
      expect([refused.status, refused.code, refused.message]).toEqual([
        5,
        'move_refused',
        'task req_0001 is error already, with another report: build: the compiler crashes; tried: an older one',
      ])
    }
    expect(Object.keys((await typist.show('1')).texts)).toEqual(['error_report.md'])
    await typist.run('retry', '1')
    await typist.claim('w1', '1')
    await typist.run('fail', '1', '--type', 'build', '--what', 'it does not')
    expect(Object.keys((await typist.show('1')).texts).toSorted()).toEqual(['error_report.md', 'error_report_001.md'])
  })

  test('to `cancel` is refused in the same way', async () => {
    const first = await typist.run('cancel', '1', '--reason', 'the configs are gone')
    expect(await typist.run('cancel', '1', '--reason', 'the configs are gone')).toEqual(first)
    expect(await typist.refused('cancel', '1', '--reason', 'too dear')).toMatchObject({
      status: 5,
      message: 'task req_0001 is cancelled already, with another note: the configs are gone',
    })
  })

  test('is refused over MCP and in the library as on the command line', async () => {
    await typist.claim('w1', '1')
    await typist.run('complete', '1', '--note', 'one')
    await typist.claim('w1', '2')
    await typist.run('fail', '2', ...FAILED)
    const completed = 'task req_0001 is completed already, with another note: one'
    const failed =
      'task req_0002 is error already, with another report: build: the compiler crashes; tried: an older one'

    const client = new Client({ name: 'test', version: '1' })
    const env = { PATH: process.env['PATH'] ?? '', HOME: HOME(), USER: 'tester', ...everywhere.env }
    const args = [PROGRAM, 'mcp', '--tools', 'queue']
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }))
    const said = async (name: string, input: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: input })
      return [isError === true, (content as { text: string }[])[0]!.text.split('\n')[0]]
    }
    try {
      const done = { id: '1', token: 1 }
      const bad = { id: '2', token: 1, type: 'build' }
      expect(await said('queue_complete', { ...done, note: 'two' })).toEqual([true, `move_refused: ${completed}`])
      expect((await said('queue_complete', { ...done, note: 'one' }))[0]).toBe(false)
      expect(await said('queue_fail', { ...bad, what: 'other' })).toEqual([true, `move_refused: ${failed}`])
      expect((await said('queue_fail', { ...bad, what: 'the compiler crashes' }))[0]).toBe(false)
    } finally {
      await client.close()
    }

    const { PUNCHLIST_STORE: store } = everywhere.env
    const list = await open({ root: cwd, actor: 'tester', ...(store ? { store } : {}) })
    try {
      const refused = (message: string) => ({ code: 'move_refused', message })
      await expect(list.queue.complete({ id: '1', note: 'two' })).rejects.toMatchObject(refused(completed))
      await expect(list.queue.fail({ id: '2', type: 'build', what: 'other' })).rejects.toMatchObject(refused(failed))
      expect((await list.queue.complete({ id: '1', note: 'one' })).task.state).toBe('completed')
    } finally {
      await list.close()
    }
  })
})
