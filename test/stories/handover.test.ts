import { expect, test } from 'vitest'
import { answer, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

interface Todos {
  readonly todos: { readonly id: string; readonly status: string; readonly assigned_to: string | null }[]
}
const add = ['backlog', 'add', 'Escape titles', '--source', 'review', '--status', 'ready', '--file', 'src/report.ts']
const task = (store: string) => [
  'queue',
  'add',
  '--from-backlog',
  'review/001',
  ...(store === '' ? [] : ['--store', store]),
]

test.each(['', 'sqlite:here.db'])(
  'a todo becomes a task once, is held by it, and is resolved when the task is completed; on %s',
  async store => {
    const around = { cwd: scratch(), ...(store === '' ? {} : { env: { PUNCHLIST_STORE: store } }) }
    await answer(add, around)
    const [first, again] = [
      await answer<{ task: object }>(task(store), around),
      await answer<{ task: object }>(task(store), around),
    ]
    expect(first.task).toMatchObject({ id: 'req_0001', origin: 'work/default/review/001', writes: ['src/report.ts'] })
    expect(again.task).toMatchObject({ id: 'req_0001' })
    const held = await answer<Todos>(['backlog', 'list'], around)
    expect(held.todos).toMatchObject([{ status: 'in_progress', assigned_to: 'req_0001' }])
    const { token } = await answer<{ token: number }>(['queue', 'claim', '--worker', 'w'], around)
    await answer(['queue', 'complete', 'req_0001', '--token', String(token)], around)
    const done = await answer<Todos>(['backlog', 'list', '--all'], around)
    expect(done.todos).toMatchObject([{ status: 'complete' }])
  },
)

test('a cancelled task lets others have its todo; what is not ready is refused, and leaves no task', async () => {
  const cwd = scratch()
  await answer(add, { cwd })
  await answer(task(''), { cwd })
  await answer(['queue', 'cancel', 'req_0001', '--reason', 'not now'], { cwd })
  const { todos } = await answer<Todos>(['backlog', 'list'], { cwd })
  expect(todos).toMatchObject([{ status: 'ready', assigned_to: null }])
  await answer(['backlog', 'add', 'Unsure', '--source', 'review'], { cwd })
  expect(await refusal(['queue', 'add', '--from-backlog', 'review/002'], { cwd })).toMatchObject({
    status: 5,
    hint: 'Approve it first: punchlist backlog approve review/002.',
  })
  const both = ['queue', 'add', '--from-backlog', 'review/001', '--priority', 'LOW']
  expect(await refusal(both, { cwd })).toMatchObject({ status: 2, code: 'bad_input' })
  const { tasks } = await answer<{ tasks: object[] }>(['queue', 'list', '--all'], { cwd })
  expect(tasks).toHaveLength(1)
  // Free again, it becomes another task.
  expect((await answer<{ task: object }>(task(''), { cwd })).task).toMatchObject({
    id: 'req_0002',
    state: 'to_execute',
  })
})
