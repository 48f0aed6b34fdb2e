import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { pi } from './driven/pi.ts'
import { Bench } from './driven/run.ts'
import { chatModel } from './models/chat.ts'
import { keepsGoing, remembersPlan } from './scenarios.ts'
import { blocks, following, makesPlan, TITLES } from './scripts.ts'

keepsGoing(pi)
remembersPlan(pi)

const LONG = 'word '.repeat(3000)

test('in pi, a session knows its plan after a compaction', async () => {
  const { place } = new Bench(pi)
  const model = await chatModel(following(makesPlan, blocks(1), blocks(2), { say: LONG }))
  onTestFinished(() => model.close())
  pi.prepare(place, model.url)
  const { PATH = '' } = process.env
  const env = { PATH, HOME: place.home, ...pi.env(model.url) }
  const [program, script] = pi.command('')
  const child = spawn(program!, [script!, '--mode', 'rpc'], {
    cwd: place.project,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  /** Sends a command, and waits for what ends it. */
  const asks = async (command: object, end: string) => {
    child.stdin.write(`${JSON.stringify(command)}\n`)
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error(`pi ended before ${end}`)
      if (value.includes(end)) return value
    }
  }
  for (const message of [`Build it. ${LONG}`, `Tell me more. ${LONG}`])
    await asks({ type: 'prompt', message }, '"type":"agent_settled"')
  expect(await asks({ type: 'compact' }, '"command":"compact"')).toContain('"success":true')
  await asks({ type: 'prompt', message: 'Where were we?' }, '"type":"agent_settled"')
  const told = model.asked.at(-1)!.texts.join('\n')
  expect(told).toContain('A summary.')
  expect(told).not.toContain('Build it.')
  for (const title of TITLES) expect(told).toContain(`pending "${title}"`)
})
