import * as v from 'valibot'
import { type Caller, operation } from '../core/operation.ts'
import { switched } from './keeping.ts'
import { continuation } from './record.ts'

const answer = () =>
  v.object({
    session: v.pipe(v.nullable(v.string()), v.description('null: for all')),
    continuation: v.picklist(['on', 'off']),
    off: v.pipe(v.array(v.string()), v.description('sessions that are switched off by themselves')),
    offForAll: v.boolean(),
  })

export const stop = operation({
  name: 'stop_continuation',
  command: 'stop',
  summary: 'Let sessions end with work left: one with --session, all without. It stays so until start.',
  example: 'punchlist stop --session 0198c5e0',
  input: () => v.object({}),
  output: answer,
  run: caller => turned(caller, 'off'),
})

export const start = operation({
  name: 'start_continuation',
  command: 'start',
  summary: 'Keep sessions going while their plan is open, again: one with --session, all without.',
  example: 'punchlist start',
  input: () => v.object({}),
  output: answer,
  run: caller => turned(caller, 'on'),
})

async function turned(caller: Caller, to: 'on' | 'off') {
  const { session } = caller.scope
  await switched(caller.store, { conversationId: session ?? '' }, to, caller)
  const rows = await caller.store.find(continuation, { status: ['off'] })
  const off = rows.flatMap(({ conversationId }) => (conversationId === '' ? [] : [conversationId]))
  return { session: session ?? null, continuation: to, off, offForAll: rows.length > off.length }
}
