import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chatServer, idsIn, textsIn } from '../agent/chat-server.ts'
import { punchlist } from '../support/cli.ts'
import { addTask, runHere, type Told, tasksIn } from '../support/run-here.ts'

test('the agent that comes with punchlist does a task, runs out of calls with its plan open, is sent on, and finishes', async () => {
  const done = (outcome: string) => (asked: Parameters<typeof idsIn>[0]) =>
    ({ call: 'complete_todo', input: { todoId: idsIn(asked)[0], outcome } }) as const
  const server = await chatServer(
    { call: 'create_todo', input: { items: [{ title: 'Write it' }, { title: 'Check it' }] } },
    { call: 'write_file', input: { path: 'made.txt', text: 'made\n' } },
    done('made.txt'),
    { say: 'I ran out of calls.' },
    done('looked at made.txt'),
    { say: 'It is made and checked.' },
  )
  onTestFinished(() => server.close())
  const here = runHere('', { wards: ['test -f made.txt'] })
  await addTask(here, 'Make it')
  const around = { ...here, env: { ...here.env, ...server.env } }
  const args = ['run', '--json', '--agent', 'punchlist', '--', '--write', '--max-calls', '4']
  const { status, stdout } = await punchlist(args, around)
  expect(status).toBe(0)
  const told = stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Told]))
  expect(told.filter(({ what }) => what === 'sent_on')).toMatchObject([{ task: 'req_0001', open: 1 }])
  expect(told.find(({ what }) => what === 'ended')).toMatchObject({ outcome: 'completed', attempts: 1 })
  expect(await tasksIn(here)).toMatchObject({ req_0001: { state: 'completed', verifiedAt: expect.any(String) } })
  expect(readFileSync(join(here.cwd, 'made.txt'), 'utf8')).toBe('made\n')
  // Sent on in the same conversation: what was said before is there.
  expect(textsIn(server.asked.at(-1)!).join('\n')).toContain('Make it')
})
