import { open } from '../../src/index.ts'
import { createSupervisor } from '../../src/supervisor/index.ts'
import { scripted } from '../support/scripted-model.ts'

/**
 * A turn that never ends by itself: `killed-turn.ts ROOT STORE WHERE`. It says
 * `here` when it has come to the point at which it is to be killed, and stays there.
 */
const [root, store, where] = process.argv.slice(2) as [string, string, string]
const stay = async (): Promise<never> => {
  process.stdout.write('here\n')
  return await new Promise(() => setInterval(() => undefined, 1000))
}

const done = { tool: 'complete_todo', input: { todoId: '1', outcome: 'found' } }
const supervisor = createSupervisor({
  store: await open({ root, store }),
  model: scripted(
    { calls: [{ tool: 'create_todo', input: { items: [{ title: 'Find' }, { title: 'Mend' }, { title: 'Tell' }] } }] },
    { calls: [done] },
    { calls: [{ tool: 'start_todo', input: { todoId: '2' } }] },
    where === 'model'
      ? stay
      : { calls: [{ tool: 'delegate', input: { todoId: '2', agentType: 'mender', task: 'Mend it' } }] },
    { text: 'All is done.' },
  ),
  workers: { mender: { description: 'mends', run: stay } },
  onEvent: ({ type }) => type === 'turn_ended' && process.stdout.write('ended\n'),
})
await supervisor.handleMessage({ id: 'm1', content: 'Go' }, { conversationId: 'c' }).result
