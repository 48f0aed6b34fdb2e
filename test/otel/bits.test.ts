import { tool } from 'ai'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { open } from '../../src/index.ts'
import { traceSupervisor } from '../../src/otel/index.ts'
import { createSupervisor } from '../../src/supervisor/index.ts'
import { scratch } from '../support/scratch.ts'
import { scripted } from '../support/scripted-model.ts'
import { recorder } from './recorder.ts'

test.each([false, true])(
  'the span of a tool that answers bit by bit has its last answer, or what went wrong: %s',
  async breaks => {
    const list = await open({ root: scratch(), store: 'sqlite::memory:' })
    const recorded = recorder()
    const stop = traceSupervisor({ tracer: recorded.tracer, captureContent: true })
    const slow = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'half'
        if (breaks) throw new RangeError('no more')
        yield 'whole'
      },
    })
    const model = scripted({ calls: [{ tool: 'slow' }] }, { text: 'Done.' })
    await createSupervisor({ model, store: list, tools: { slow } }).handleMessage({ id: 'm', content: 'Go' }).result
    stop()
    const span = (await recorded.spans()).find(({ name }) => name === 'execute_tool slow')!
    expect(span.attributes['gen_ai.tool.call.result']).toBe(breaks ? undefined : '"whole"')
    expect(span.attributes['error.type']).toBe(breaks ? 'RangeError' : undefined)
    await list.close()
  },
)
