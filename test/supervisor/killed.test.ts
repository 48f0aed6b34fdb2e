import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { scratch } from '../support/scratch.ts'
import { completed, planIn, play } from './stage.ts'

test('a turn whose process is killed is carried on by the next: nothing is lost, nothing completed by accident', async () => {
  // While the model thinks, and while a worker works.
  await Promise.all(['model', 'worker'].map(carriedOn))
})

async function carriedOn(where: string): Promise<void> {
  const root = scratch()
  const store = `sqlite:${join(root, 'list.db')}`
  await killed(root, store, where)
  const list = await open({ root, store })
  expect((await planIn(list)).map(({ status }) => status)).toEqual(['completed', 'in_progress', 'pending'])
  const { result, asked } = await play(
    list,
    [
      { calls: [{ tool: 'start_todo', input: { todoId: '2' } }, completed(2)] },
      { text: 'Done!' },
      { calls: [completed(3)] },
      { text: 'Done.' },
    ],
    { message: { id: 'm2', content: 'Go on', metadata: { turnId: 'm1' } } },
  )
  expect(JSON.stringify(asked[0]!.prompt.at(-1))).toContain('1/3 completed, 2 remaining')
  expect(result).toMatchObject({ turnId: 'm1', end: 'answered', remaining: 0, calls: 4 })
  const items = await planIn(list)
  expect(items.map(({ outcome }) => outcome)).toEqual(['found', 'done', 'done'])
  const completions = (await list.events({})).filter(({ kind, to }) => kind === 'plan_item' && to === 'completed')
  expect(completions.map(({ id }) => id)).toEqual(items.map(({ id }) => id))
  await list.close()
}

/** Runs a turn in a process of its own, and kills it where it says that it has come to. */
async function killed(root: string, store: string, where: string): Promise<void> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./killed-turn.ts', import.meta.url)), root, store, where],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const gone = once(child, 'exit')
  let said = ''
  for await (const chunk of child.stdout) {
    said += String(chunk)
    if (said.includes('here')) child.kill('SIGKILL')
  }
  const [, signal] = await gone
  expect({ said, signal }).toEqual({ said: 'here\n', signal: 'SIGKILL' })
}
