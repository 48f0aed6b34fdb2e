import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ended, punchlist, start } from '../support/cli.ts'
import { actOnBacklog, type BacklogAction, keyOf, put, type Todo } from './backlog-model.ts'
import { Dice } from './dice.ts'
import { todosOnDisk } from './disk.ts'
import { type Answer, askTyped, type Request, Worker } from './doors.ts'
import { actOnPlan, isOpen, type PlanAction, presentTurn } from './plan-model.ts'
import {
  actOnQueue,
  blockersOf,
  claimable,
  isHeld,
  PRIORITIES,
  partsOf,
  putTask,
  type QueueAction,
  type Task,
  take,
  taskId,
  tokenOf,
} from './queue-model.ts'
import * as scripts from './scripts.ts'
import type { Expected } from './verdict.ts'
import { actOnLogs, type LogAction } from './worklog-model.ts'
import { CONVERSATIONS, differences, emptyWorld, look, type Room, SESSIONS, type World } from './world.ts'

export interface WalkOptions {
  readonly seed: number
  readonly steps: number
  /** How many steps of a thousand go through the real command line, and how many end with a killed process. */
  readonly typed: number
  readonly killed: number
  /** After how many steps three runs drain the queue, each time. */
  readonly runsEvery: number
}

export interface Tally {
  readonly steps: number
  readonly refused: number
  readonly typed: number
  readonly killed: number
  readonly foundNew: number
  readonly scripts: number
  readonly runs: number
  readonly drained: number
}

/** One thing that is done, and what the rules say of it. */
interface Step {
  readonly room: Room
  readonly what: string
  readonly request: Request
  readonly act: (world: World) => Expected
}

const ACTORS = ['ann', 'bob'] as const
const WORKERS = ['w1', 'w2', 'w3'] as const
const SOURCES = ['review', 'work'] as const
/** A release is two moves; an addition that is killed uses up its number, and the models count without gaps. */
const UNKILLED: ReadonlySet<string> = new Set(['backlogrelease', 'queueadd'])
const WORDS = ['Read it', 'Write it', 'Test it', 'Ship it', 'Tell them', 'Clean up']

/**
 * Walks at random over all lists of one workspace: verbs through two processes that stay open and through the command
 * line, scripts that move and edit files, processes that are killed, runs. After each step the list that it was about is
 * compared with the model, on disk and in the answers. Throws on the first difference, with the seed and the steps.
 */
export async function walk(root: string, options: WalkOptions): Promise<Tally> {
  return await new Walk(root, options).go()
}

class Walk {
  readonly #root: string
  readonly #options: WalkOptions
  readonly #dice: Dice
  readonly #workers: readonly [Worker, Worker]
  readonly #done: string[] = []
  readonly #tally = { steps: 0, refused: 0, typed: 0, killed: 0, foundNew: 0, scripts: 0, runs: 0, drained: 0 }
  #world = emptyWorld()
  #names = 0

  constructor(root: string, options: WalkOptions) {
    this.#root = root
    this.#options = options
    this.#dice = new Dice(options.seed)
    this.#workers = [new Worker(root), new Worker(root)]
  }

  async go(): Promise<Tally> {
    const { steps, runsEvery } = this.#options
    try {
      for (let n = 1; n <= steps; n++) {
        if (n % runsEvery === 0) await this.#run(n)
        else await this.#step(['plan', 'backlog', 'queue', 'worklog'])
        this.#tally.steps = n
        if (n % 100 === 0) await this.#compareAll()
      }
      await this.#compareAll()
      return { ...this.#tally }
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
      const { seed } = this.#options
      throw new Error(
        `seed ${seed}, step ${this.#tally.steps + 1}: ${message}\nin ${this.#root}, after\n${this.#done.slice(-60).join('\n')}`,
        { cause: error },
      )
    } finally {
      await Promise.all(this.#workers.map(worker => worker.close()))
    }
  }

  async #step(rooms: readonly Room[]): Promise<void> {
    const weights = { plan: 20, backlog: 27, queue: 40, worklog: 13 }
    const room = this.#dice.weighted(
      Object.fromEntries(rooms.map(name => [name, weights[name]])) as Record<Room, number>,
    )
    if ((room === 'queue' && this.#dice.chance(0.2)) || (room === 'backlog' && this.#dice.chance(0.08))) {
      const what = room === 'queue' ? this.#script() : this.#edit()
      if (what !== undefined) {
        this.#done.push(`script: ${what}`)
        this.#tally.scripts++
        return await this.#compare(room)
      }
    }
    const step = this.#thought(room)
    const dice = this.#dice.under(1000)
    if (dice < this.#options.killed && !UNKILLED.has(step.what.split(' ')[0] + step.request.verb))
      await this.#kill(step)
    else await this.#ask(step, dice >= 1000 - this.#options.typed)
  }

  #thought(room: Room): Step {
    if (room === 'plan') return this.#planStep()
    if (room === 'backlog') return this.#backlogStep()
    if (room === 'queue') return this.#queueStep()
    return this.#logStep()
  }

  async #ask(step: Step, byTyping: boolean): Promise<void> {
    const after = structuredClone(this.#world)
    const expected = step.act(after)
    const typed = byTyping ? await askTyped(this.#root, step.request) : undefined
    if (typed) this.#tally.typed++
    const answer: Answer = typed ?? (await this.#dice.pick(this.#workers).ask(step.request))
    const verdict = answer.code ?? 'ok'
    this.#done.push(`${typed ? 'typed' : 'asked'}: ${step.what} -> ${verdict}`)
    if (!([expected].flat() as string[]).includes(verdict))
      throw new Error(
        `${step.what}: by the rules ${[expected].flat().join(' or ')}, in fact ${verdict} ${answer.message ?? ''}`,
      )
    if (verdict === 'ok') this.#world = after
    else this.#tally.refused++
    await this.#compare(step.room)
  }

  /** Kills the process at any moment of a verb: the list stands as before it or as after it. */
  async #kill(step: Step): Promise<void> {
    const after = structuredClone(this.#world)
    const expected = [step.act(after)].flat()
    this.#done.push(`killed: ${step.what}`)
    await this.#dice.pick(this.#workers).askAndKill(step.request, this.#dice.under(40))
    this.#tally.killed++
    const seen = await look(this.#root, step.room, request => this.#list(request))
    const before = structuredClone(this.#world)
    const [old, fresh] = [differences(before, seen), differences(after, seen)]
    if (old.length === 0) this.#world = before
    else if (fresh.length === 0 && expected.includes('ok')) {
      this.#tally.foundNew++
      this.#world = after
    } else throw new Error(`neither old nor new.\nFrom old:\n${old.join('\n')}\nFrom new:\n${fresh.join('\n')}`)
    this.#done.push(`  found: ${old.length === 0 ? 'old' : 'new'}`)
  }

  async #compare(room: Room): Promise<void> {
    const found = differences(this.#world, await look(this.#root, room, request => this.#list(request)))
    if (found.length > 0) throw new Error(found.join('\n'))
  }

  async #compareAll(): Promise<void> {
    for (const room of ['plan', 'backlog', 'queue', 'worklog'] as const) await this.#compare(room)
  }

  async #list(request: Request): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#workers[this.#dice.under(2)]!.ask(request)
    if (!answer.ok) throw new Error(`${request.room} list: ${answer.code} ${answer.message}`)
    return answer.ok
  }

  #text(): string {
    return `text ${++this.#names}`
  }

  // The plan

  #planStep(): Step {
    const { pick, chance } = bound(this.#dice)
    const conversation = pick(CONVERSATIONS)
    const actor = pick(ACTORS)
    const turns = this.#world.plans[conversation]!
    const present = presentTurn(turns)?.items ?? []
    const open = present.filter(isOpen)
    const others = Object.values(this.#world.plans).flatMap(all => all.flatMap(turn => turn.items))
    const chosen = () =>
      pick(open.length > 0 && chance(0.8) ? open : chance(0.8) && present.length > 0 ? present : others)?.id ??
      'nothing'
    const verb = this.#dice.weighted({
      add: open.length > 25 ? 3 : 18,
      start: 22,
      complete: 24,
      block: 8,
      unblock: 6,
      return: 10,
      turn: 2,
      carry: 6,
    })
    const item = chosen()
    const byNumber = present.findIndex(({ id }) => id === item)
    const named = byNumber >= 0 && chance(0.2) ? String(byNumber + 1) : item
    const [action, input] = ((): [PlanAction, Record<string, unknown>] => {
      switch (verb) {
        case 'add': {
          const titles = Array.from({ length: 1 + this.#dice.under(3) }, () => pick(WORDS))
          const order = chance(0.3) ? 1 + this.#dice.under(present.length + 2) : undefined
          // Only fresh words at a place: of what is there already, the place is as it is.
          const fresh = order === undefined ? titles : [this.#text()]
          const items = fresh.map((title, n) => ({ title, ...(order === undefined ? {} : { order: order + n }) }))
          return [{ verb, titles: fresh, ...(order === undefined ? {} : { order }) }, { items }]
        }
        case 'start':
          return chance(0.5) ? [{ verb, by: actor }, {}] : [{ verb, by: actor, item }, { todoId: named }]
        case 'complete': {
          const outcome = chance(0.3) ? 'done' : this.#text()
          const status = chance(0.75) ? 'completed' : 'cancelled'
          return [
            { verb, item, outcome, status },
            { todoId: named, outcome, status },
          ]
        }
        case 'block': {
          const needs = pick(['a key', 'a word'])
          return [
            { verb, item, needs },
            { todoId: named, needs },
          ]
        }
        case 'unblock':
          return [{ verb, item }, { todoId: named }]
        case 'return': {
          const note = pick(['no answer', 'too hard'])
          return [
            { verb, by: actor, item, note },
            { todoId: named, note },
          ]
        }
        case 'turn': {
          const name = chance(0.3) ? (pick(turns)?.name ?? 'first') : this.#text()
          return [{ verb, name }, { turnId: name }]
        }
        default:
          return [{ verb }, {}]
      }
    })()
    return {
      room: 'plan',
      what: `plan ${conversation} ${actor} ${JSON.stringify(action)}`,
      request: {
        room: 'plan',
        verb: verb === 'add' ? 'create' : verb,
        input,
        scope: { actor, conversationId: conversation },
      },
      act: world => actOnPlan(world.plans[conversation]!, action),
    }
  }

  // The backlog

  #backlogStep(): Step {
    const { pick, chance } = bound(this.#dice)
    const { todos } = this.#world.backlog
    const all = Object.values(todos)
    const open = all.filter(({ status }) => status !== 'complete' && status !== 'wont_fix')
    const actor = pick(ACTORS)
    const wanted: Record<string, readonly Todo['status'][]> = {
      approve: ['pending'],
      claim: ['ready'],
      complete: ['in_progress', 'pending'],
      block: ['in_progress'],
      unblock: ['blocked'],
      interrupt: ['in_progress'],
      resume: ['interrupted'],
      release: ['in_progress'],
      reopen: ['complete', 'wont_fix'],
    }
    const verb = this.#dice.weighted({
      add: open.length > 40 ? 3 : 16,
      approve: 12,
      claim: 18,
      complete: 12,
      block: 9,
      unblock: 9,
      interrupt: 5,
      resume: 6,
      release: 6,
      dismiss: 6,
      reopen: 4,
      sweep: 1,
    })
    const fitting = all.filter(({ status }) => wanted[verb]?.includes(status))
    const todo = pick(fitting.length > 0 && chance(0.75) ? fitting : open.length > 0 && chance(0.8) ? open : all)
    const id = todo ? keyOf(todo) : 'work/s1/review/001'
    const session = verb === 'add' || verb === 'sweep' ? pick(SESSIONS) : (todo?.session ?? 's1')
    const token =
      todo && todo.token > 0 && chance(0.5) ? (chance(0.75) ? todo.token : Math.max(0, todo.token - 1)) : undefined
    const held = token === undefined ? {} : { token }
    const another = pick(all.filter(one => one.session === todo?.session))
    const on = another ? keyOf(another) : id
    const [action, input] = ((): [BacklogAction, Record<string, unknown>] => {
      switch (verb) {
        case 'add': {
          const [source, status] = [pick(SOURCES), pick(['pending', 'ready'] as const)]
          const finding = chance(0.3) ? pick(['F-1', 'F-2', 'F-3', 'F-4']) : undefined
          const title = finding ?? this.#text()
          const known = finding === undefined ? {} : { findingId: finding, sourceRef: 'review.md' }
          return [
            { verb, session, source, title, status, ...(finding === undefined ? {} : { finding }) },
            { items: [{ title, source, status, ...known }] },
          ]
        }
        case 'sweep':
          return [{ verb, session }, {}]
        case 'approve':
        case 'resume':
        case 'reopen':
          return [{ verb, id }, { id }]
        case 'claim': {
          const triage = chance(0.2)
          return [
            { verb, id, as: actor, triage },
            { id, as: actor, lease: '10h', ...(triage ? { triage } : {}) },
          ]
        }
        case 'complete': {
          const reason = pick(['fixed it', 'fixed it well'])
          return [
            { verb, id, by: actor, reason, ...held },
            { id, reason, ...held },
          ]
        }
        case 'block':
          return [
            { verb, id, on, ...held },
            { id, on: [on], ...held },
          ]
        case 'unblock':
          return [
            { verb, id, as: actor, ...held },
            { id, as: actor, lease: '10h', ...held },
          ]
        case 'interrupt':
        case 'release':
          return [
            { verb, id, ...held },
            { id, ...held },
          ]
        default: {
          const as = pick(['false_positive', 'out_of_scope', 'duplicate'] as const)
          const of = as === 'duplicate' ? { of: on } : {}
          return [
            { verb, id, by: actor, as, reason: 'no', ...of, ...held },
            { id, as, reason: 'no', ...of, ...held },
          ]
        }
      }
    })()
    return {
      room: 'backlog',
      what: `backlog ${actor} ${JSON.stringify(action)}`,
      request: { room: 'backlog', verb, input, scope: { actor, session } },
      act: world => actOnBacklog(world.backlog, action),
    }
  }

  /** Somebody edits, renames or copies a todo's file; what was done, where there was something to do it to. */
  #edit(): string | undefined {
    const { pick } = bound(this.#dice)
    const { backlog } = this.#world
    const all = Object.values(backlog.todos)
    const what = pick(['status', 'status', 'rename', 'copy', 'key'] as const)
    const suits = ({ status, finding, related }: Todo) =>
      what === 'status'
        ? status === 'pending' || status === 'ready'
        : what !== 'copy' ||
          (finding === null && related.length === 0 && status !== 'in_progress' && status !== 'blocked')
    const todo = pick(all.filter(suits))
    if (!todo) return undefined
    const key = keyOf(todo)
    const { path } = todosOnDisk(this.#root, todo.session).find(one => one.key === key)!
    if (what === 'status') {
      const status = todo.status === 'pending' ? 'ready' : 'pending'
      scripts.editLine(path, /^status: .*$/m, `status: ${status}`)
      scripts.rename(path, basename(path).replace(/-(?:pending|ready)-/, `-${status}-`))
      Object.assign(todo, { status, byHand: true })
      return `${key} is set to ${status}, and renamed`
    }
    if (what === 'rename') {
      scripts.rename(path, basename(path).replace(/\.md$/, 'x.md'))
      todo.held = false
      return `${key} is renamed`
    }
    if (what === 'key') {
      scripts.editLine(path, /^wave: /m, `# ours\n${this.#text().replace(' ', '_')}: yes\nwave: `)
      return `${key} gets a key of its own`
    }
    const list = `${todo.session}/${todo.source}`
    const number = backlog.highest[list]! + 1 + this.#dice.under(2)
    const name = String(number).padStart(3, '0')
    scripts.copyTodo(path, basename(path).replace(/^\d+/, name), name)
    const copy = put(backlog, { ...todo, number, finding: null })
    const { owner, dependencies, resolution, reason, resolvedBy, duplicateOf, related, byHand, history } = todo
    Object.assign(
      copy,
      structuredClone({ owner, dependencies, resolution, reason, resolvedBy, duplicateOf, related, byHand, history }),
    )
    return `${key} is copied as ${name}`
  }

  // The queue

  #queueStep(): Step {
    const { pick, chance } = bound(this.#dice)
    const { tasks } = this.#world.queue
    const ids = Object.keys(tasks)
    const open = ids.filter(id => tasks[id]!.state !== 'completed' && tasks[id]!.state !== 'cancelled')
    const wanted: Record<string, (task: Task) => boolean> = {
      release: ({ state }) => state === 'staged',
      heartbeat: isHeld,
      checkpoint: isHeld,
      reply: ({ awaiting }) => awaiting,
      complete: isHeld,
      fail: isHeld,
      return: isHeld,
      retry: ({ state }) => state === 'error',
    }
    const unflagged = Object.values(tasks).some(({ cut }) => cut === 'unflagged')
    const verb = this.#dice.weighted({
      add: open.length > 40 ? 3 : 16,
      release: 8,
      claim: 20,
      heartbeat: 5,
      checkpoint: 8,
      reply: 6,
      complete: 16,
      fail: 6,
      return: 6,
      retry: 6,
      cancel: 2,
      // What a script moved a moment ago, and has not flagged yet, is left to other tests.
      recover: unflagged ? 0 : 2,
    })
    const sound = ids.filter(id => tasks[id]!.cut === null)
    const fitting = sound.filter(id => wanted[verb]?.(tasks[id]!))
    const usual = sound.filter(id => open.includes(id))
    const id =
      pick(fitting.length > 0 && chance(0.75) ? fitting : usual.length > 0 && chance(0.85) ? usual : sound) ??
      'req_0001'
    const task = tasks[id]
    const actor = pick(WORKERS)
    const tokens = task?.tokens ?? []
    const token = tokens.length > 0 && chance(0.6) ? (chance(0.8) ? tokenOf(task!) : pick(tokens)) : undefined
    const held = token === undefined ? {} : { token }
    const [action, input] = ((): [QueueAction, Record<string, unknown>] => {
      switch (verb) {
        case 'add': {
          const parent = open.length > 0 && chance(0.25) ? pick(ids) : undefined
          const under = parent === undefined ? {} : { parent }
          const stage = chance(0.2)
          const known = ids.filter(one => one !== parent)
          const items = Array.from({ length: 1 + this.#dice.under(3) }, () => ({
            title: chance(0.15) ? `bad ${this.#text()}` : this.#text(),
            priority: chance(0.5) ? ('NORMAL' as const) : pick(PRIORITIES),
            ...(known.length > 0 && chance(0.3) ? { dependsOn: [pick(known)] } : {}),
            ...(chance(0.15) ? { target: pick(WORKERS) } : {}),
            ...(chance(0.15) && parent === undefined ? { key: `key ${this.#dice.under(30)}` } : {}),
          }))
          const wishes = items.map(({ target, ...item }) => ({
            ...item,
            description: 'x',
            expect: 'y',
            ...(target === undefined ? {} : { targetWorker: target }),
          }))
          return [
            { verb, items, stage, ...under },
            { items: wishes, ...(stage ? { stage } : {}), ...under },
          ]
        }
        case 'release': {
          const blockers = task ? blockersOf(this.#world.queue, id) : []
          const without = blockers.length > 0 && chance(0.6) ? pick(blockers) : undefined
          return without === undefined
            ? [{ verb, id }, { id }]
            : [
                { verb, id, without },
                { id, without: [without], reason: 'not needed' },
              ]
        }
        case 'claim':
          return chance(0.6)
            ? [
                { verb, worker: actor },
                { worker: actor, lease: '10h' },
              ]
            : [
                { verb, worker: actor, id },
                { worker: actor, id, lease: '10h' },
              ]
        case 'heartbeat':
          return [
            { verb, id, token: token ?? 1 },
            { id, token: token ?? 1, lease: '10h' },
          ]
        case 'checkpoint': {
          const summary = chance(0.2) ? (task?.checkpoints.at(-1)?.split('|')[1] ?? 'first') : this.#text()
          const needs = chance(0.5) ? { needs: 'an answer' } : {}
          return [
            { verb, id, by: actor, summary, ...needs, ...held },
            { id, summary, ...needs, ...held },
          ]
        }
        case 'reply': {
          const text = pick(['yes', 'no'])
          return [
            { verb, id, text },
            { id, text },
          ]
        }
        case 'complete':
          return [
            { verb, id, ...held },
            { id, ...held, ...(chance(0.3) ? { note: 'well done' } : {}) },
          ]
        case 'fail':
          return [
            { verb, id, ...held },
            { id, type: 'build', what: 'broken', ...held },
          ]
        case 'return':
          return [
            { verb, id, ...held },
            { id, ...held },
          ]
        case 'retry':
          return [{ verb, id }, { id }]
        case 'cancel': {
          const children = chance(0.5)
          return [
            { verb, id, children },
            { id, reason: 'no', ...(children ? { children } : {}) },
          ]
        }
        default:
          return [{ verb }, {}]
      }
    })()
    return {
      room: 'queue',
      what: `queue ${actor} ${JSON.stringify(action)}`,
      request: { room: 'queue', verb, input, scope: { actor } },
      act: world => actOnQueue(world.queue, action),
    }
  }

  /** A script moves or makes a task's directory; what was done, where there was something to do it to. */
  #script(): string | undefined {
    const { pick, chance } = bound(this.#dice)
    const { queue } = this.#world
    const what = this.#dice.weighted({
      claim: 6,
      unflagged: 1,
      flag: 2,
      complete: 5,
      cutCompletion: 2,
      fail: 2,
      cutFailure: 1,
      giveBack: 2,
      retry: 1,
      release: 1,
      stage: 1,
      write: 2,
      priority: 2,
    })
    const having = (state: Task['state'], more: (task: Task, id: string) => boolean = () => true) =>
      pick(
        Object.keys(queue.tasks).filter(one => {
          const task = queue.tasks[one]!
          return task.state === state && task.name !== '' && more(task, one)
        }),
      )
    const finishable = (task: Task, one: string) =>
      task.cut === null && partsOf(queue, one).every(part => !blockersOf(queue, one).includes(part))
    const byScript = (task: Task) => task.owner === null && task.cut === null
    const move = (id: string | undefined, to: Task['state']) => {
      if (id === undefined) return undefined
      const task = queue.tasks[id]!
      scripts.carry(this.#root, task.name, task.state, to)
      if (isHeld(task)) task.lost = true
      Object.assign(task, { state: to, owner: null })
      return `${what} ${id}`
    }
    const flag = (id: string, kind: 'started' | 'completed') =>
      scripts.touchFlag(this.#root, { ...queue.tasks[id]!, id }, kind)
    const report = (id: string) => {
      const task = queue.tasks[id]!
      scripts.writeErrorReport(this.#root, task.name)
      // A script writes over the report that is there.
      task.failures = Math.max(1, task.failures)
      task.failedByVerb = false
    }
    switch (what) {
      case 'claim':
      case 'unflagged': {
        // A claim that a script has ended is not walked into a second time.
        const id = having('to_execute', ({ lost }) => !lost)
        const done = move(id, 'in_progress')
        if (id === undefined) return undefined
        if (what === 'claim') flag(id, 'started')
        else queue.tasks[id]!.cut = 'unflagged'
        return done
      }
      case 'flag': {
        const id = having('in_progress', ({ cut }) => cut === 'unflagged')
        if (id === undefined) return undefined
        flag(id, 'started')
        queue.tasks[id]!.cut = null
        return `flag ${id}`
      }
      case 'complete': {
        const id = having('in_progress', finishable)
        if (id !== undefined) flag(id, 'completed')
        return move(id, 'completed')
      }
      case 'cutCompletion': {
        const id = having('in_progress', (task, one) => byScript(task) && blockersOf(queue, one).length === 0)
        if (id === undefined) return undefined
        flag(id, 'completed')
        queue.tasks[id]!.cut = 'completed'
        return `flag of completion ${id}`
      }
      case 'fail': {
        const id = having('in_progress', ({ cut }) => cut === null)
        if (id !== undefined) report(id)
        return move(id, 'error')
      }
      case 'cutFailure': {
        const id = having('in_progress', byScript)
        if (id === undefined) return undefined
        report(id)
        queue.tasks[id]!.cut = 'error'
        return `report of failure ${id}`
      }
      case 'giveBack':
        return move(having('in_progress', byScript), 'to_execute')
      case 'retry':
        return move(having('error'), 'to_execute')
      case 'release':
        return move(having('staged'), 'to_execute')
      case 'stage':
        return move(having('to_execute', byScript), 'staged')
      case 'write': {
        const id = taskId(queue.highest + 1 + this.#dice.under(3))
        const known = Object.keys(queue.tasks)
        const dependsOn = known.length > 0 && chance(0.4) ? [pick(known)] : []
        const title = this.#text()
        if (known.length === 0) return undefined
        const name = scripts.writeTask(this.#root, id, { title, dependsOn })
        const made = { title, dependsOn, priority: 'NORMAL', parent: null, target: null, key: null } as const
        putTask(queue, id, { ...made, dependsOn: [...dependsOn], state: 'to_execute' }).name = name
        return `write ${id} ${dependsOn.join()}`
      }
      default: {
        const id = having(pick(['to_execute', 'staged']))
        if (id === undefined) return undefined
        const task = queue.tasks[id]!
        task.priority = pick(PRIORITIES)
        scripts.editLine(
          scripts.taskFile(this.#root, task.state, task.name),
          /^\*\*Priority:\*\* .*$/m,
          `**Priority:** ${task.priority}`,
        )
        return `priority ${id} ${task.priority}`
      }
    }
  }

  /** Three runs at once drain the queue while the other lists are worked on: each task that could be done is done once. */
  async #run(n: number): Promise<void> {
    for (const [id, task] of Object.entries(this.#world.queue.tasks)) {
      if (task.cut !== 'unflagged') continue
      scripts.touchFlag(this.#root, { ...task, id }, 'started')
      task.cut = null
    }
    const log = join(this.#root, 'agents.log')
    writeFileSync(log, '')
    const agent = `prompt=$(cat); echo "$PUNCHLIST_TASK" >> '${log}'; case "$prompt" in *"bad text"*) exit 1;; esac; echo ok`
    const around = { cwd: this.#root, env: { PUNCHLIST_SESSION: 'runs' } }
    await punchlist(['trust', '--yes'], around)
    const names = ['x', 'y', 'z'].map(name => `${name}${n}`)
    const runs = names.map(name => {
      const args = ['run', '--name', name, '--workers', '1', '--max-attempts', '1', '--', 'sh', '-c', agent]
      const child = start(args, around)
      child.stdin!.end()
      return ended(child)
    })
    this.#done.push(`runs: ${names.join()}`)
    for (let m = 0; m < 6; m++) await this.#step(['plan', 'backlog', 'worklog'])
    const ran = await Promise.all(runs)
    const { queue } = this.#world
    actOnQueue(queue, { verb: 'recover' })
    const workers = names.map(name => `${name}-1`)
    const drained: string[] = []
    for (let next; (next = claimable(queue, workers)[0]) !== undefined; drained.push(next)) {
      const task = queue.tasks[next]!
      take(task, 'a run')
      if (task.title.startsWith('bad'))
        Object.assign(task, { state: 'error', failures: task.failures + 1, failedByVerb: false })
      else Object.assign(task, { state: 'completed', linked: true })
    }
    this.#tally.runs += names.length
    this.#tally.drained += drained.length
    const worked = readFileSync(log, 'utf8').split('\n').filter(Boolean).toSorted()
    this.#done.push(`  worked on ${worked.join()}`)
    const bad = ran.filter(({ status }) => status !== 0 && status !== 5)
    if (bad.length > 0) throw new Error(`a run failed: ${JSON.stringify(bad)}`)
    if (String(worked) !== String(drained.toSorted()))
      throw new Error(`the runs should have worked on ${drained.toSorted().join()}, and did on ${worked.join()}`)
    await this.#compareAll()
  }

  // Worklogs

  #logStep(): Step {
    const { pick, chance } = bound(this.#dice)
    const session = pick(SESSIONS)
    const worker = pick(ACTORS)
    const log = `${session}/${worker}`
    const sections = this.#world.logs[log]?.sections ?? []
    const last = pick(sections)
    const verb = this.#dice.weighted({
      open: 4,
      task: 18,
      check: 20,
      decide: 10,
      complete: 14,
      fail: 6,
      close: 3,
      sweep: 1,
    })
    const number = last && chance(0.9) ? last.number : 1 + this.#dice.under(sections.length + 3)
    const about = { name: worker, task: number }
    const [action, input] = ((): [LogAction, Record<string, unknown>] => {
      switch (verb) {
        case 'open':
          return [
            { verb, log },
            { name: worker, role: 'implementation', plan: 'plan.md' },
          ]
        case 'task': {
          const fresh = chance(0.5) ? sections.length + 1 : number
          const again = chance(0.3)
          const subtasks = Array.from({ length: this.#dice.under(3) }, () => pick(WORDS))
          const subject = `Subject ${fresh}`
          return [
            { verb, log, number: fresh, subject, subtasks: [...new Set(subtasks)], again },
            { name: worker, task: fresh, subject, subtask: [...new Set(subtasks)], ...(again ? { again } : {}) },
          ]
        }
        case 'check': {
          const subtask = 1 + this.#dice.under((last?.subtasks.length ?? 0) + 1)
          return [
            { verb, log, number, subtask },
            { ...about, subtask },
          ]
        }
        case 'decide': {
          const text = this.#text()
          return [
            { verb, log, number, text },
            { ...about, text },
          ]
        }
        case 'complete':
          return [{ verb, log, number }, about]
        case 'fail':
          return [
            { verb, log, number },
            { ...about, reason: 'no' },
          ]
        case 'close': {
          const interrupted = chance(0.3)
          return [
            { verb, log, interrupted },
            { name: worker, ...(interrupted ? { interrupted } : {}) },
          ]
        }
        default:
          return [{ verb, session }, {}]
      }
    })()
    return {
      room: 'worklog',
      what: `worklog ${JSON.stringify(action)}`,
      request: { room: 'worklog', verb, input, scope: { actor: worker, session } },
      act: world => actOnLogs(world.logs, action),
    }
  }
}

function bound(dice: Dice) {
  return {
    pick: <T>(from: readonly T[]): T => dice.pick(from),
    chance: (probability: number) => dice.chance(probability),
  }
}
