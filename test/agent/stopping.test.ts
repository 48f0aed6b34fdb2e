import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answer, ended, punchlist, start } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { type ChatServer, type Cue, chatServer, idsIn, type Line, textsIn } from './chat-server.ts'

interface Plan {
  readonly items: readonly { readonly title: string; readonly status: string }[]
}

async function scripted(...cues: readonly Cue[]): Promise<ChatServer> {
  const server = await chatServer(...cues)
  onTestFinished(() => server.close())
  return server
}

/** A cue that lets somebody know that it was reached. */
function reached(line: Line): { cue: Cue; when: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cue = () => {
    resolve()
    return line
  }
  return { cue, when: promise }
}

const PLAN: Cue = { call: 'create_todo', input: { items: [{ title: 'Look' }, { title: 'Mend' }] } }
const START: Cue = { call: 'start_todo' }
const HERE = ['--conversation', 'c']
const statuses = async (cwd: string, turn: string) =>
  (await answer<Plan>(['plan', 'list', ...HERE, '--turn', turn, '--status', 'all'], { cwd })).items.map(
    ({ status }) => status,
  )

describe.concurrent('an agent that is stopped leaves its plan as it stands', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s', async (signal, exit) => {
    const cwd = scratch()
    const last = reached({ hang: 'in the answer' })
    const server = await chatServer(PLAN, START, last.cue)
    const child = start(['agent', 'go', ...HERE, '--turn', 't'], { cwd, env: server.env })
    const end = ended(child)
    await last.when
    child.kill(signal)
    const { status, stderr } = await end
    expect(status).toBe(exit)
    expect(stderr).toContain('Stopped. 2 items left. Carry it on with: punchlist agent --conversation c "go on"')
    expect(await statuses(cwd, 't')).toEqual(['in_progress', 'pending'])
    await server.close()
  })

  test.each(['run_command', 'complete_todo'])('what %s has started is ended with it', async tool => {
    const cwd = scratch()
    // It tells its number, and that of a child, which is in nobody's way.
    const script = `const c = require('child_process').spawn('sleep', ['300']); require('fs').writeFileSync('pids', process.pid + ' ' + c.pid); setInterval(() => {}, 1000)`
    const call: Cue =
      tool === 'run_command'
        ? { call: tool, input: { program: process.execPath, args: ['-e', script], seconds: 300 } }
        : asked => ({ call: tool, input: { todoId: idsIn(asked)[0], outcome: 'did it' } })
    const server = await chatServer(PLAN, call, { say: 'never' })
    const check = tool === 'complete_todo' ? ['--check', `"${process.execPath}" -e "${script}"`] : []
    const child = start(['agent', 'go', ...HERE, '--turn', 't', '--allow', process.execPath, ...check], {
      cwd,
      env: server.env,
    })
    const end = ended(child)
    const pids = join(cwd, 'pids')
    while (!existsSync(pids) || !readFileSync(pids, 'utf8').includes(' '))
      await new Promise(done => setTimeout(done, 20))
    child.kill('SIGINT')
    expect((await end).status).toBe(130)
    for (const pid of readFileSync(pids, 'utf8').split(' ')) expect(isAlive(Number(pid))).toBe(false)
    expect(await statuses(cwd, 't')).not.toContain('completed')
    await server.close()
  })

  test('kill -9: the next one knows what was asked, and goes on with what is open', async () => {
    const cwd = scratch()
    const last = reached({ hang: 'at once' })
    const server = await chatServer(
      PLAN,
      START,
      asked => ({ call: 'complete_todo', input: { todoId: idsIn(asked)[0], outcome: 'looked' } }),
      last.cue,
      asked => ({ call: 'complete_todo', input: { todoId: idsIn(asked)[0], outcome: 'mended' } }),
      { say: 'Done.' },
    )
    const child = start(['agent', 'Look and mend', ...HERE], { cwd, env: server.env })
    await last.when
    child.kill('SIGKILL')
    await once(child, 'close')
    const { turn, text } = await answer<{ turn: string; text: string }>(['agent', 'go on', ...HERE], {
      cwd,
      env: server.env,
    })
    expect(text).toBe('Done.')
    expect(textsIn(server.asked[4]!).slice(1, 3)).toEqual(['Look and mend', 'go on'])
    const { items } = await answer<Plan>(['plan', 'list', ...HERE, '--turn', turn, '--status', 'all'], { cwd })
    expect(items.map(({ title, status }) => [title, status])).toEqual([['Mend', 'completed']])
    await server.close()
  })

  test('a reader that goes away ends it without a crash', async () => {
    const last = reached({ say: 'The answer. '.repeat(10_000) })
    const server = await chatServer(last.cue)
    const child = start(['agent', 'go', ...HERE, '--quiet'], { cwd: scratch(), env: server.env })
    child.stdout!.destroy()
    const { status, stderr } = await ended(child)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    await server.close()
  })
})

test('two at once in one conversation do not work on the same items', async () => {
  const cwd = scratch()
  const first = await scripted(PLAN, { say: 'Not yet.' })
  await punchlist(['agent', 'Look and mend', ...HERE, '--max-calls', '2'], { cwd, env: first.env })
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const one = await scripted(
    async asked => {
      begun.resolve()
      await go.promise
      return { calls: idsIn(asked).map(todoId => ({ call: 'complete_todo', input: { todoId, outcome: 'did it' } })) }
    },
    { say: 'I did both.' },
  )
  const other = await scripted({ say: 'I have no plan.' })
  const working = answer<{ text: string; remaining: number }>(['agent', 'go on', ...HERE], { cwd, env: one.env })
  await begun.promise
  const beside = await punchlist(['agent', 'And what is the time?', ...HERE], { cwd, env: other.env })
  expect(beside).toMatchObject({ status: 0, stdout: 'I have no plan.\n' })
  expect(beside.stderr).toBe('Another agent is at work in this conversation: its plan stays its own.\n')
  expect(textsIn(other.asked[0]!).slice(1)).toEqual([
    'Look and mend',
    expect.stringContaining('Not yet.'),
    'And what is the time?',
  ])
  go.resolve()
  expect(await working).toMatchObject({ text: 'I did both.', remaining: 0 })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // One that has ended stays until its parent has looked, and process 1 may be slow to.
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
