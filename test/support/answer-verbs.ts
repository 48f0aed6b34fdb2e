import type { Punchlist } from '../../src/index.ts'

/** A verb whose answer is compared with what is there afterwards. */
export interface AnswerVerb {
  /** What the lists are like before. */
  readonly before?: (list: Punchlist) => Promise<unknown>
  readonly run: (list: Punchlist) => Promise<unknown>
  /** Where it is killed over a directory that nobody had claimed, its line may stay in the log of a task that is where it was. */
  readonly leavesText?: boolean
}

const item = (title: string, more = {}) => ({ title, description: 'All of it.', expect: 'It is done.', ...more })
const todo = (title: string) => ({ title, source: 'review', status: 'ready' as const })
const tasks = async ({ queue }: Punchlist) => await queue.add({ items: [item('A'), item('B')] })
const claimed = async (list: Punchlist) => {
  await tasks(list)
  await list.queue.claim({ id: '1' })
}
const asking = async (list: Punchlist) => {
  await claimed(list)
  await list.queue.checkpoint({ id: '1', summary: 'half', needs: 'which?' })
}
const found = async ({ backlog }: Punchlist) => await backlog.add({ items: [todo('A'), todo('B')] })
const held = async (list: Punchlist) => {
  await found(list)
  await list.backlog.claim({ id: '1' })
}
const logged = async ({ worklog }: Punchlist) => {
  await worklog.open({ name: 'w', role: 'implementation', plan: 'p.md' })
  await worklog.task({ name: 'w', task: 1, subject: 'first', subtask: ['one', 'two'] })
}

export const ANSWER_VERBS: Readonly<Record<string, AnswerVerb>> = {
  'queue add': { run: ({ queue }) => queue.add({ items: [item('A')] }) },
  'queue add with a key': { before: tasks, run: ({ queue }) => queue.add({ items: [item('C', { key: 'k' })] }) },
  'queue add of a batch': {
    before: tasks,
    run: ({ queue }) => queue.add({ items: [item('C', { key: 'k' }), item('D', { dependsOn: ['#1'] }), item('E')] }),
  },
  'queue add of a part': { before: tasks, run: ({ queue }) => queue.add({ items: [item('C')], parent: '1' }) },
  'queue release': {
    before: ({ queue }) => queue.add({ items: [item('A')], stage: true }),
    run: ({ queue }) => queue.release({ id: '1' }),
  },
  'queue claim': { before: tasks, run: ({ queue }) => queue.claim() },
  'queue return': { before: claimed, run: ({ queue }) => queue.return({ id: '1', reason: 'no GPU' }) },
  'queue heartbeat': { before: claimed, run: ({ queue }) => queue.heartbeat({ id: '1', token: 1 }) },
  'queue checkpoint': { before: claimed, run: ({ queue }) => queue.checkpoint({ id: '1', summary: 's', needs: 'n' }) },
  'queue reply': { before: asking, run: ({ queue }) => queue.reply({ id: '1', text: 'this one' }) },
  'queue complete': { before: claimed, run: ({ queue }) => queue.complete({ id: '1', token: 1, note: 'done' }) },
  'queue fail': {
    before: claimed,
    run: ({ queue }) => queue.fail({ id: '1', token: 1, type: 'build', what: 'broken' }),
  },
  'queue retry': {
    before: async list => {
      await claimed(list)
      await list.queue.fail({ id: '1', type: 'build', what: 'broken' })
    },
    run: ({ queue }) => queue.retry({ id: '1', reason: 'another compiler' }),
    leavesText: true,
  },
  'queue cancel': {
    before: tasks,
    run: ({ queue }) => queue.cancel({ id: '1', reason: 'not needed' }),
    leavesText: true,
  },
  'queue cancel of a claim': { before: claimed, run: ({ queue }) => queue.cancel({ id: '1', reason: 'not needed' }) },
  'backlog add': { run: ({ backlog }) => backlog.add({ items: [todo('A')] }) },
  'backlog claim': { before: found, run: ({ backlog }) => backlog.claim({ id: '1' }) },
  'backlog complete': { before: held, run: ({ backlog }) => backlog.complete({ id: '1', reason: 'done' }) },
  'backlog block': { before: held, run: ({ backlog }) => backlog.block({ id: '1', on: ['2'] }) },
  'backlog dismiss': {
    before: found,
    run: ({ backlog }) => backlog.dismiss({ id: '1', as: 'out_of_scope', reason: 'x' }),
  },
  'backlog log': { before: held, run: ({ backlog }) => backlog.log({ id: '1', text: 'looked at it' }) },
  'worklog open': { run: ({ worklog }) => worklog.open({ name: 'w', role: 'implementation', plan: 'p.md' }) },
  'worklog task': { before: logged, run: ({ worklog }) => worklog.task({ name: 'w', task: 2, subject: 'second' }) },
  'worklog check': { before: logged, run: ({ worklog }) => worklog.check({ name: 'w', task: 1, subtask: 1 }) },
  'worklog decide': { before: logged, run: ({ worklog }) => worklog.decide({ name: 'w', task: 1, text: '[arch] so' }) },
  'worklog complete': {
    before: logged,
    run: ({ worklog }) => worklog.complete({ name: 'w', task: 1, file: ['a.ts'] }),
  },
  'worklog fail': { before: logged, run: ({ worklog }) => worklog.fail({ name: 'w', task: 1, reason: 'no' }) },
  'worklog close': { before: logged, run: ({ worklog }) => worklog.close({ name: 'w' }) },
}
