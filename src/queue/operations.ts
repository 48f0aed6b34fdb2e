import * as v from 'valibot'
import { described, duration, line, parsedJson, wholeNumber } from '../core/input.ts'
import { type Caller, operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { addTasks } from './adding.ts'
import { id, lasting, lease, newTask, reason, taskName, token, without, words, worker } from './asking.ts'
import { claimNext, claimTask, claimWaiting, heartbeat, nothingToClaim, returnTask } from './claiming.ts'
import { cancelTask, releaseTask, retryTask, waive, waiveTheRest } from './deciding.ts'
import { checkpointTask, completeTask, completeTasks, failTask, replyTo } from './reporting.ts'
import { verifiedBy } from './verifying.ts'
import { taskShape, viewOf, viewsOf } from './view.ts'

const about = () => v.object({ task: taskShape() })
const MOST_AT_ONCE = 500

export const queueAdd = operation({
  name: 'queue_add',
  command: 'queue add',
  tools: 'queue',
  summary: 'Add tasks for workers; with a parent, divide that one into parts.',
  example:
    'punchlist queue add "Convert the configs" --description "All of them, to YAML" --expect "one PR, tests green"',
  input: () =>
    v.object({
      items: v.pipe(
        v.array(v.object(newTask())),
        v.minLength(1, 'must have at least one item'),
        v.maxLength(5000, 'must have at most 5000 items'),
      ),
      parent: described(taskName(), 'the task they are parts of'),
      stage: described(v.boolean(), 'hold them back until they are released'),
    }),
  output: () =>
    v.object({
      task: taskShape(),
      tasks: v.optional(v.pipe(v.array(taskShape()), v.description('of a batch, in order'))),
    }),
  positional: ['title'],
  form: {
    args: () => {
      const { title, description, expect, ...rest } = newTask()
      return v.object({
        title: v.optional(title),
        description: v.optional(description),
        expect: v.optional(expect),
        ...rest,
        parent: described(taskName(), 'the task it is a part of'),
        stage: described(v.boolean(), 'hold it back until it is released'),
        items: described(v.string(), 'JSON file with {"items":[…]}, or - for standard input'),
      })
    },
    async input({ items, parent, stage, ...single }, read) {
      const given = Object.fromEntries(Object.entries(single).filter(([, value]) => value !== undefined))
      if (typeof items !== 'string') return { items: [given], parent, stage }
      const json = parsedJson(await read(items), items, 'Send one JSON document, as --help describes it.')
      const several = Array.isArray(json) ? { items: json as unknown[] } : (json as object)
      return { ...several, ...(parent === undefined ? {} : { parent }), ...(stage === undefined ? {} : { stage }) }
    },
  },
  async run(caller, { items, parent, stage }) {
    const added = await addTasks(caller, items, { parent, stage })
    const tasks = await viewsOf(
      caller,
      added.map(({ item }) => item),
    )
    return tasks.length > 1 ? { task: tasks[0]!, tasks } : { task: tasks[0]! }
  },
})

export const queueRelease = operation({
  name: 'queue_release',
  command: 'queue release',
  tools: 'queue',
  summary: 'Let workers have a staged task, or let a task go on without others that it waits for.',
  example: 'punchlist queue release req_0007',
  input: () => v.object({ ...id(), without: without(), reason: reason('why it goes on without them') }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, without: left = [], reason: why }) {
    const waived = left.length > 0 ? await waive(caller, name, left, why) : undefined
    return {
      task: await viewOf(caller, waived && waived.status !== 'staged' ? waived : await releaseTask(caller, name)),
    }
  },
})

const claiming = () => ({
  id: described(taskName(), 'this one; the next there is if absent'),
  ...worker(),
  ...lease(),
  limit: described(wholeNumber(1, MOST_AT_ONCE), 'so many at once; 1 if absent'),
})

export const queueClaim = operation({
  name: 'queue_claim',
  command: 'queue claim',
  tools: 'queue',
  summary: "Make the next task, or a named one, one worker's. Claiming one's own again renews the lease.",
  example: 'punchlist queue claim --worker worker-1',
  input: () =>
    v.object({
      ...claiming(),
      wait: described(v.boolean(), 'wait until there is work'),
      for: described(duration(), 'wait so long at most'),
    }),
  toolInput: () => v.object(claiming()),
  output: () =>
    v.object({
      task: taskShape(),
      token: v.pipe(v.number(), v.description('send it with every report about the task')),
      tasks: v.optional(v.pipe(v.array(taskShape()), v.description('where several were asked for'))),
    }),
  positional: ['id'],
  async run(caller, { id: name, worker: who, lease: held, limit = 1, wait = false, for: atMost }) {
    const asked = { worker: who, leaseMs: lasting(held) }
    const patience = lasting(atMost) ?? (wait ? Infinity : 0)
    const taken =
      name !== undefined
        ? [await claimTask(caller, name, asked)]
        : patience > 0
          ? await claimWaiting(caller, asked, limit, patience)
          : await claimNext(caller, asked, limit)
    if (taken.length === 0) throw await nothingToClaim(caller, who)
    const tasks = await viewsOf(caller, taken)
    const first = { task: tasks[0]!, token: tasks[0]!.token }
    return limit > 1 ? { ...first, tasks } : first
  },
})

export const queueReturn = operation({
  name: 'queue_return',
  command: 'queue return',
  tools: 'queue',
  summary: 'Give a claimed task back, so that anyone may take it.',
  example: 'punchlist queue return req_0007 --reason "needs a machine with a GPU"',
  input: () => v.object({ ...id(), reason: reason('why'), ...token() }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, reason: why, token: own }) {
    return { task: await viewOf(caller, await returnTask(caller, name, own, why)) }
  },
})

export const queueHeartbeat = operation({
  name: 'queue_heartbeat',
  command: 'queue heartbeat',
  tools: 'queue',
  summary: 'Renew the lease of a claim: a worker that does keeps its task however slow it is.',
  example: 'punchlist queue heartbeat req_0007 --token 1',
  input: () => v.object({ ...id(), ...token(), ...lease() }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, token: own, lease: held }) {
    return { task: await viewOf(caller, await heartbeat(caller, name, own, lasting(held))) }
  },
})

export const queueCheckpoint = operation({
  name: 'queue_checkpoint',
  command: 'queue checkpoint',
  tools: 'queue',
  summary: 'Report a milestone of a claimed task; with needs, say what is needed to go on and wait for a reply.',
  example: 'punchlist queue checkpoint req_0007 --summary "3 of 8 converted" --needs "which indentation?"',
  input: () =>
    v.object({
      ...id(),
      summary: v.pipe(words(50_000), v.description('what was accomplished')),
      needs: described(words(50_000), 'what is needed to go on'),
      ...token(),
    }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, summary, needs, token: own }) {
    return { task: await viewOf(caller, await checkpointTask(caller, name, { summary, needs, token: own })) }
  },
})

export const queueReply = operation({
  name: 'queue_reply',
  command: 'queue reply',
  tools: 'queue',
  summary: 'Answer the checkpoint that a task waits at.',
  example: 'punchlist queue reply req_0007 "two spaces"',
  input: () => v.object({ ...id(), text: v.pipe(words(50_000), v.description('the answer')) }),
  output: about,
  positional: ['id', 'text'],
  async run(caller, { id: name, text }) {
    return { task: await viewOf(caller, await replyTo(caller, name, text)) }
  },
})

const completing = () => ({
  note: described(words(50_000), 'what was done; goes to its execution log'),
  ...token(),
  without: without(),
  reason: reason('why it goes on without them'),
})

export const queueComplete = operation({
  name: 'queue_complete',
  command: 'queue complete',
  tools: 'queue',
  summary: 'Say that a task is done. Every part of it must be completed, or named in without.',
  example: 'punchlist queue complete req_0007 --token 1 --note "converted, tests green"',
  input: () =>
    v.object({
      id: v.optional(id().id),
      ...completing(),
      batch: described(
        v.pipe(
          v.array(v.object({ ...id(), token: wholeNumber(0, Number.MAX_SAFE_INTEGER) })),
          v.maxLength(MOST_AT_ONCE, `must be at most ${MOST_AT_ONCE}`),
        ),
        'several at once, each with the token of its claim, instead of an id',
      ),
    }),
  toolInput: () => v.object({ ...id(), ...completing() }),
  output: () => v.object({ task: taskShape(), tasks: v.optional(v.array(taskShape())) }),
  positional: ['id'],
  form: {
    args: () => v.object({ id: v.optional(id().id), ...completing() }),
    input: async args => args,
  },
  async run(caller, { id: name, note, token: own, without: left = [], reason: why, batch = [] }) {
    if (name === undefined && batch.length > 0) {
      const tasks = await viewsOf(caller, await completeTasks(caller, batch))
      return { task: tasks[0]!, tasks }
    }
    if (name === undefined) throw missingId()
    if (left.length > 0) await waiveTheRest(caller, name, left, why, own)
    const verified = (await isInRun(caller)) ? await verifiedBy(caller, name, own) : undefined
    return { task: await viewOf(caller, await completeTask(caller, name, own, note, verified)) }
  },
})

export const queueFail = operation({
  name: 'queue_fail',
  command: 'queue fail',
  tools: 'queue',
  summary: 'Say that a claimed task could not be done, with a report of what happened.',
  example: 'punchlist queue fail req_0007 --type build --what "the compiler crashes" --tried "an older version"',
  input: () =>
    v.object({
      ...id(),
      type: v.pipe(line(200), v.description('the kind of error')),
      what: v.pipe(words(50_000), v.description('what happened')),
      tried: described(words(50_000), 'what was tried'),
      ...token(),
    }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, type, what, tried, token: own }) {
    return { task: await viewOf(caller, await failTask(caller, name, { type, what, tried, token: own })) }
  },
})

export const queueRetry = operation({
  name: 'queue_retry',
  command: 'queue retry',
  tools: 'queue',
  summary: 'Let workers try a failed task again.',
  example: 'punchlist queue retry req_0007',
  input: () => v.object({ ...id(), reason: reason('what has changed') }),
  output: about,
  positional: ['id'],
  async run(caller, { id: name, reason: why }) {
    return { task: await viewOf(caller, await retryTask(caller, name, why)) }
  },
})

export const queueCancel = operation({
  name: 'queue_cancel',
  command: 'queue cancel',
  tools: 'queue',
  summary: 'Say that a task will not be done, and why.',
  example: 'punchlist queue cancel req_0007 --reason "the configs are gone"',
  input: () =>
    v.object({
      ...id(),
      reason: v.pipe(words(4000), v.description('why')),
      children: described(v.boolean(), 'its open parts, too'),
      ...token(),
    }),
  output: () => v.object({ task: taskShape(), parts: v.array(v.string()) }),
  positional: ['id'],
  async run(caller, { id: name, reason: why, children, token: own }) {
    const cancelled = await cancelTask(caller, name, { reason: why, children, token: own })
    return { task: await viewOf(caller, cancelled.task), parts: cancelled.parts.map(({ id: part }) => part) }
  },
})

/** In a run, wards decide what is completed. */
async function isInRun(caller: Caller): Promise<boolean> {
  if (caller.wards.commands.length === 0) return false
  const { who, tasks } = await caller.authority()
  return who === 'agent' || tasks.length > 0
}

function missingId(): Problem {
  const wrong = [{ field: 'id', message: 'is missing' }]
  return new Problem('bad_input', 'id: is missing', 'Name the task that is done: punchlist queue complete ID.', {
    wrong,
  })
}
