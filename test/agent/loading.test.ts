import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { chatServer } from './chat-server.ts'

const LISTING = `process.on('exit', () => require('fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')))`

/** The files that a command loads, and those of them that hold the AI SDK or a provider of it. */
async function loaded(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = scratch()
  const [preload, list] = [join(cwd, 'preload.cjs'), join(cwd, 'loaded')]
  writeFileSync(preload, LISTING)
  const through = [process.execPath, '--require', preload]
  const ran = await punchlist(args, { cwd, env: { ...env, LOADED: list }, through })
  const files = readFileSync(list, 'utf8').split('\n')
  const ofTheSdk = files.filter(file => /AI_APICallError|openai-compatible/.test(readFileSync(file, 'utf8')))
  return { ran, files, ofTheSdk }
}

test.each([
  [['plan', 'list']],
  [['plan', 'add', 'A']],
  [['queue', 'list']],
  [['backlog', 'list']],
  [['worklog', 'list']],
  [['status']],
  [['agent', '--help']],
])('punchlist %j does not load what the agent is made of', async args => {
  const { files, ofTheSdk } = await loaded(args)
  expect(files.some(file => file.endsWith('/engines/sqlite/bin.cjs'))).toBe(true)
  expect(ofTheSdk).toEqual([])
})

test('the agent does, from our own files: nothing has to be installed for it', async () => {
  const server = await chatServer({ say: 'Hello.' })
  const { ran, files, ofTheSdk } = await loaded(['agent', 'hello', '--quiet'], server.env)
  expect(ran).toMatchObject({ status: 0, stdout: 'Hello.\n', stderr: '' })
  expect(ofTheSdk.length).toBeGreaterThan(0)
  expect(files.filter(file => file.includes('/node_modules/'))).toEqual([])
  await server.close()
})
