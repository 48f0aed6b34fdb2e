import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { chatServer } from './chat-server.ts'

const LISTING = `process.on('exit', () => require('fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')))`

/** The files of the program that a command loads, and how much that is. */
async function loaded(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = scratch()
  const preload = join(cwd, 'preload.cjs')
  writeFileSync(preload, LISTING)
  const list = join(cwd, 'loaded')
  const ran = await punchlist(args, {
    cwd,
    env: { ...env, LOADED: list },
    through: [process.execPath, '--require', preload],
  })
  const { readFileSync, statSync } = await import('node:fs')
  const files = readFileSync(list, 'utf8')
    .split('\n')
    .filter(file => file.includes('/dist/program/'))
  return {
    ran,
    names: files.map(file => file.split('/dist/program/')[1]!),
    bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
  }
}

test.each([
  [['plan', 'list']],
  [['plan', 'add', 'A']],
  [['queue', 'list']],
  [['backlog', 'list']],
  [['status']],
  [['agent', '--help']],
])('punchlist %j does not load what the agent is made of', async args => {
  const { names, bytes } = await loaded(args)
  expect(names).toContain('cli/bin.cjs')
  expect(names.filter(name => name.includes('agent'))).toEqual([])
  expect(bytes).toBeLessThan(400_000)
})

test('the agent does, and needs no package for it', async () => {
  const server = await chatServer({ say: 'Hello.' })
  const { ran, names } = await loaded(['agent', 'hello', '--quiet'], server.env)
  expect(ran).toMatchObject({ status: 0, stdout: 'Hello.\n', stderr: '' })
  expect(names).toContain('cli/agent.cjs')
  await server.close()
})
