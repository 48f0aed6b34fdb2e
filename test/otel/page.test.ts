import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { traceSupervisor } from '../../src/otel/index.ts'
import { CHANNELS, createSupervisor } from '../../src/supervisor/index.ts'
import { scratch } from '../support/scratch.ts'
import { type Cue, idsIn, scripted } from '../support/scripted-model.ts'
import { recorder } from './recorder.ts'

const read = (page: string) => readFileSync(join(import.meta.dirname, '../..', page), 'utf8')

/** The cells of the rows whose first has this form, that one without its quotes. */
const rows = (page: string, first: RegExp) =>
  [...read(page).matchAll(/^\| (.*) \|$/gm)]
    .map(([, row]) => row!.split('|').map(cell => cell.trim()))
    .filter(([name]) => first.test(name!))
const words = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word!)

/** Turns in which everything happens: a worker answers and fails, a tool is refused, a model breaks off. */
async function turns(): Promise<void> {
  const list = await open({ root: scratch(), store: 'sqlite::memory:' })
  const delegated: Cue = asked => ({ calls: [{ tool: 'delegate', input: { todoId: idsIn(asked)[0], task: 'Look' } }] })
  const model = scripted(
    { calls: [{ tool: 'create_todo', input: { items: [{ title: 'Find it', agentType: 'finder' }] } }] },
    delegated,
    delegated,
    { text: 'Found.' },
    { fails: new Error('overloaded') },
  )
  const finder = { description: 'finds', model: scripted({ text: 'found' }, { fails: new Error('gone') }) }
  const limits = { base: 4, withPlan: 4 }
  const supervisor = createSupervisor({ model, store: list, workers: { finder }, limits, settings: { maxRetries: 0 } })
  await supervisor.handleMessage({ id: 'm1', content: 'Go' }).result
  await expect(supervisor.handleMessage({ id: 'm2', content: 'Go' }).result).rejects.toThrow('overloaded')
  await list.close()
}

test('docs/tracing.md lists every attribute of every span, and no other', async () => {
  const recorded = recorder()
  const stop = traceSupervisor({ tracer: recorded.tracer, captureContent: true })
  await turns()
  stop()
  const columns = ['turn', 'call', 'tool', 'worker']
  const columnOf = ({ name }: ReadableSpan) =>
    name.startsWith('chat') ? 'call' : name.startsWith('execute') ? 'tool' : name.endsWith('finder') ? 'worker' : 'turn'
  const seen = (await recorded.spans()).flatMap(span =>
    Object.keys(span.attributes).map(key => `${columnOf(span)} ${key}`),
  )
  const listed = rows('docs/tracing.md', /^`(?:gen_ai|punchlist|error)\./).flatMap(([name, ...cells]) =>
    columns.filter((_, n) => cells[n] === 'x').map(column => `${column} ${name!.slice(1, -1)}`),
  )
  expect(listed.toSorted()).toEqual([...new Set(seen)].toSorted())
})

test('docs/tracing.md lists the channels with what their objects have', async () => {
  const heard: Record<string, Set<string>> = {}
  const leave = Object.values(CHANNELS).map(channel => {
    const listener = (trace: unknown) => {
      heard[channel] = new Set([...(heard[channel] ?? []), ...Object.keys(trace as object)])
    }
    subscribe(`tracing:${channel}:start`, listener)
    return () => unsubscribe(`tracing:${channel}:start`, listener)
  })
  await turns()
  for (const one of leave) one()
  const listed = rows('docs/tracing.md', /^`punchlist:/).map(([name, has]) => [
    name!.slice(1, -1),
    new Set(words(has!)),
  ])
  expect(Object.fromEntries(listed)).toEqual(heard)
})

test('docs/supervisor.md lists every event, and no other', () => {
  const told = [...read('src/supervisor/events.ts').matchAll(/readonly type: '(\w+)'/g)].map(([, type]) => type!)
  const table = read('docs/supervisor.md').split('| Event |')[1]!.split('\n\n')[0]!
  const listed = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) => words(cell!))
  expect(told.length).toBeGreaterThan(10)
  expect(listed.toSorted()).toEqual(told.toSorted())
})
