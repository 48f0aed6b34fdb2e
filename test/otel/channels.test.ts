import { execFileSync } from 'node:child_process'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { open, type Punchlist } from '../../src/index.ts'
import {
  type CallTrace,
  CHANNELS,
  createSupervisor,
  type DelegationTrace,
  type SupervisorOptions,
  type ToolTrace,
  type TurnTrace,
} from '../../src/supervisor/index.ts'
import { scratch } from '../support/scratch.ts'
import { type Cue, scripted } from '../support/scripted-model.ts'

type Name = keyof typeof CHANNELS
type Moment = 'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error'
type AnyTrace = Partial<TurnTrace & CallTrace & ToolTrace & DelegationTrace>

const MOMENTS: readonly Moment[] = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
const NAMES = Object.keys(CHANNELS) as Name[]

let list: Punchlist
let leave: (() => void)[] = []

beforeEach(async () => {
  list = await open({ root: scratch(), store: 'sqlite::memory:' })
})

afterEach(async () => {
  for (const one of leave.splice(0)) one()
  await list.close()
})

function listen(name: Name, moment: Moment, heard: (trace: AnyTrace) => void): void {
  const channel = `tracing:${CHANNELS[name]}:${moment}`
  const listener = (message: unknown) => heard(message as AnyTrace)
  subscribe(channel, listener)
  leave.push(() => unsubscribe(channel, listener))
}

async function turn(cues: readonly Cue[], more: Partial<SupervisorOptions> = {}) {
  const workers = { reader: { description: 'reads', run: async () => 'read' } }
  const supervisor = createSupervisor({ model: scripted(...cues), store: list, workers, ...more })
  return await supervisor.handleMessage({ id: 'm', content: 'Go' }, { conversationId: 'c' }).result
}

const DELEGATED: readonly Cue[] = [
  { calls: [{ tool: 'delegate', input: { agentType: 'reader', task: 'Read' } }] },
  { text: 'Done.' },
]

describe('whoever listens', () => {
  test('is handed the same object from the start of a thing to its end, and what came of it there', async () => {
    const begun: AnyTrace[] = []
    const ended: AnyTrace[] = []
    for (const name of NAMES) {
      listen(name, 'start', trace => {
        expect(trace).not.toHaveProperty('result')
        begun.push(trace)
      })
      listen(name, 'asyncEnd', trace => void ended.push(trace))
    }
    const result = await turn(DELEGATED)
    expect(new Set(begun)).toEqual(new Set(ended))
    expect(begun.every(trace => ended.includes(trace))).toBe(true)
    const [whole, call, tool, delegation, last] = begun
    expect(whole).toMatchObject({ agent: 'supervisor', conversationId: 'c', turnId: 'm' })
    expect(whole!.result).toBe(result)
    expect(call).toMatchObject({ call: 1, conversationId: 'c', model: { provider: 'scripted', id: 'actor' } })
    expect(Object.keys(call!.result as object)).toEqual(['finishReason', 'usage', 'id', 'model'])
    expect(call!.result).toMatchObject({ finishReason: 'tool-calls', usage: { inputTokens: 10, outputTokens: 5 } })
    expect(tool).toMatchObject({ tool: 'delegate', id: 'call-1-0', input: { task: 'Read' } })
    expect(tool!.result).toEqual({ agentType: 'reader', todoId: null, result: 'read' })
    expect(delegation).toMatchObject({ agent: 'reader', todoId: null, task: 'Read', result: 'read' })
    expect(last).toMatchObject({ call: 2, result: { finishReason: 'stop' } })
    for (const inner of [call, tool, delegation, last]) expect(inner!.parent).toBe(whole)
    for (const trace of begun) expect(trace).not.toHaveProperty('error')
  })

  test('hears things in the order in which they happen, each inside its turn', async () => {
    const heard: string[] = []
    for (const name of NAMES) for (const moment of MOMENTS) listen(name, moment, () => heard.push(`${name} ${moment}`))
    await turn(DELEGATED)
    const long = heard.filter(one => /(?: start| asyncEnd)$/.test(one))
    expect(long).toEqual([
      'turn start',
      'call start',
      'tool start',
      'delegation start',
      'delegation asyncEnd',
      'tool asyncEnd',
      'call asyncEnd',
      'call start',
      'call asyncEnd',
      'turn asyncEnd',
    ])
    for (const name of NAMES) {
      const count = (moment: Moment) => heard.filter(one => one === `${name} ${moment}`).length
      expect(count('end')).toBe(count('start'))
      expect(count('asyncStart')).toBe(count('start'))
    }
    expect(heard.filter(one => one.endsWith(' error'))).toEqual([])
  })

  test('is told what went wrong before the end, by each thing that failed of it', async () => {
    const heard: [string, unknown][] = []
    for (const name of NAMES) {
      listen(name, 'error', ({ error }) => heard.push([`${name} error`, error]))
      listen(name, 'asyncEnd', ({ error }) => heard.push([`${name} asyncEnd`, error]))
    }
    const gone = new Error('The line is dead')
    await expect(turn([{ text: 'Well, ', breaks: gone }])).rejects.toBe(gone)
    expect(heard).toEqual([
      ['call error', gone],
      ['call asyncEnd', gone],
      ['turn error', gone],
      ['turn asyncEnd', gone],
    ])
  })

  test('can run what starts in a context of its own', async () => {
    const inside: string[] = []
    for (const name of NAMES) {
      listen(name, 'start', trace => {
        trace.within = work => {
          inside.push(name)
          return work()
        }
      })
    }
    await turn(DELEGATED)
    expect(inside).toEqual(['turn', 'call', 'tool', 'delegation', 'call'])
  })

  test('does not fail the turn by failing itself', async () => {
    const thrown: unknown[] = []
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', error => void thrown.push(error))
    try {
      for (const name of NAMES) {
        for (const moment of ['start', 'asyncEnd'] as const) {
          listen(name, moment, () => {
            throw new Error('not my day')
          })
        }
      }
      await expect(turn(DELEGATED)).resolves.toMatchObject({ text: 'Done.' })
      await new Promise(resolve => setImmediate(resolve))
    } finally {
      process.removeAllListeners('uncaughtException')
      for (const one of others) process.on('uncaughtException', one)
    }
    // Node hands it to the process, as for every channel.
    expect(thrown).toHaveLength(10)
  })
})

test('where nobody listens, nothing is published', async () => {
  const all = NAMES.map(name => tracingChannel(CHANNELS[name]))
  expect(all.map(({ hasSubscribers }) => hasSubscribers)).toEqual([false, false, false, false])
  const traces: AnyTrace[] = []
  // Who comes in the middle of a turn hears of what begins from then on.
  const cue: Cue = () => {
    listen('turn', 'asyncEnd', trace => void traces.push(trace))
    return { text: 'Done.' }
  }
  await turn([cue])
  expect(traces).toEqual([])
})

test('OpenTelemetry is only loaded by those who ask for it', () => {
  const root = join(import.meta.dirname, '../..')
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, at, next) {
      if (name.startsWith('@opentelemetry/')) throw new Error('there is no ' + name)
      return next(name, at)
    } })
    await import('./src/index.ts')
    await import('./src/supervisor/index.ts')
    console.log(await import('./src/otel/index.ts').then(() => 'loaded', error => error.message))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' })
  expect(said.trim()).toBe('there is no @opentelemetry/api')
})
