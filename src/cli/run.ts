import { hostname } from 'node:os'
import { Arrivals } from '../arrivals.ts'
import { configFrom } from '../continuation/settings.ts'
import { milliseconds } from '../core/input.ts'
import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { concealing } from '../core/secrets.ts'
import { harmlessLine, jsonText, redactAlso } from '../core/text.ts'
import { StoreDoor } from '../open.ts'
import { agentMaker } from '../runner/agents/agents.ts'
import { refuseMissing } from '../runner/agents/missing.ts'
import { Diary } from '../runner/diary.ts'
import { underWay, workersAlone } from '../runner/earlier.ts'
import { Guard } from '../runner/guard.ts'
import { Logbook } from '../runner/logbook.ts'
import { Rest } from '../runner/marked.ts'
import { refuseWithoutRepository } from '../runner/place.ts'
import { type Draining, drain } from '../runner/runner.ts'
import { RunState } from '../runner/state.ts'
import { isAcceptedProgram } from '../trust-items.ts'
import { findWorkspace } from '../workspace.ts'
import type { GlobalFlags } from './arguments.ts'
import type { Surroundings } from './main.ts'
import { progressOn } from './run-progress.ts'
import { askingFrom, callerFor } from './scope.ts'
import { processScreen } from './screen.ts'

/** As the command's schema leaves them. */
interface Fields {
  readonly command?: readonly string[]
  readonly agent?: string
  readonly workers?: number
  readonly worktree?: boolean
  readonly once?: boolean
  readonly watch?: boolean
  readonly maxAttempts?: number
  readonly timeout?: string
  readonly budget?: number
  readonly lease?: string
  readonly name?: string
  readonly pr?: boolean
}

/** Drains the queue with agents; the exit status says whether anything failed. */
export async function run(fields: Fields, globals: GlobalFlags, around: Surroundings): Promise<number> {
  const { env } = around
  const mode = modeOf(fields)
  const asking = askingFrom(globals, env, around.cwd)
  let workspace = await findWorkspace(asking.wish)
  const { command: words = [], lease, timeout } = fields
  const settings = workspace.settings.run ?? {}
  const agent = agentMaker({
    name: fields.agent ?? (words.length > 0 ? undefined : settings.agent),
    words,
    self: [process.execPath, process.argv[1]!],
  })
  const accepted = async (program: { key: string; value: string }) => await isAcceptedProgram(workspace, program)
  refuseMissing(agent(), { env, cwd: fields.worktree === true ? undefined : workspace.here })
  const usesSettings = fields.agent === undefined && words.length === 0
  const { refuseUntrusted } = await import('./trust.ts')
  // Limits that were not accepted are simply not in effect; stored checks are judged when they are to be run.
  const needed = workspace.items.filter(
    ({ what, effect }) => effect !== 'loosens' && (what !== 'run.agent' || usesSettings),
  )
  const used = new Set(['database', 'queue', 'tasks', ...needed.map(({ what }) => what)])
  const isUsed = (what: string) => used.has(what) || (fields.worktree === true && what.startsWith('git '))
  // What was accepted just now is in effect from here on.
  if (await refuseUntrusted(workspace, isUsed, around.terminal)) workspace = await findWorkspace(asking.wish)
  if (fields.worktree === true) await refuseWithoutRepository(workspace.root, accepted)
  const door = new StoreDoor(workspace)
  // The runner acts by the tokens of its own claims, also where an agent has started it.
  const authority = async () => ({ who: 'program', tasks: [] }) as const
  const caller: Caller = { ...callerFor(asking, workspace, door, true), authority }
  // Made first, with all that belongs to it, before anything of ours is put beside it.
  await door.store(true)
  for (const text of door.warnings(true)) around.terminal.err(harmlessLine(`warning: ${text}`))
  const arrivals = new Arrivals(workspace, async () => caller.store, door.seal())
  await arrivals.begin()
  // Whatever its agents print and is kept: they have the same environment.
  redactAlso(concealing(env))
  const stop = new AbortController()
  const now = () => new Date()
  const json = globals.json === true
  const progress = progressOn(processScreen(env), { json, caller, signal: stop.signal, now })
  const state = new RunState(workspace.root, caller.seal())
  const id = `${now().toISOString().replace(/\D/g, '').slice(0, 14)}-${process.pid}`
  if (fields.worktree === true) state.make('worktrees')
  const diary = new Diary(state, id, now, entry => progress.tell(entry))
  const logbook = new Logbook(caller, state)
  const name =
    fields.name ??
    `${hostname()
      .split('.')[0]!
      .replace(/[^\w-]/g, '-')}-${process.pid}`
  const workers = fields.workers ?? settings.workers ?? 1
  const names = Array.from({ length: workers }, (_, n) => `${name}-${n + 1}`)
  // On a server, a name that was given may be another machine's, too.
  const alone = fields.name === undefined || !workspace.store.startsWith('postgres')
  const since = now().toISOString().slice(0, 19)
  const over = underWay(state, id, { workers: alone ? names : [], names, since })
  const [guard, rest, listening] = [new Guard(), new Rest(), onSignals(stop)]
  try {
    const counts = await drain(
      {
        caller,
        agent,
        leaseMs: milliseconds(lease ?? settings.lease ?? '15m'),
        maxAttempts: fields.maxAttempts ?? 3,
        timeoutMs: timeout === undefined ? undefined : milliseconds(timeout),
        budgetUsd: fields.budget,
        worktree: fields.worktree === true,
        accepted,
        continuation: configFrom(caller.continuation),
        env,
        store: workspace.chosen ? (workspace.inFiles ? 'files' : workspace.store) : undefined,
        state,
        diary,
        guard,
        logbook,
        rest,
        arrivals,
        onSaid: (task, text) => progress.said(task, text),
        signal: stop.signal,
      },
      { names, mode, name },
    )
    const summary = await logbook.summary(workersAlone(state, id, names))
    // Not where it could not go on: it may have been unable to give its tasks back, and the next one does.
    over()
    await progress.end()
    for (const { file, message } of await caller.store.warnings())
      around.terminal.err(harmlessLine(`warning: ${file}: ${message}`))
    const pullRequest = fields.pr === true ? await logbook.pullRequest() : undefined
    if (json) {
      const told = { at: now().toISOString(), what: 'summary', path: summary ?? null, pullRequest: pullRequest ?? null }
      around.terminal.out(jsonText(told))
    } else {
      if (summary !== undefined) around.terminal.out(`summary: ${summary}`)
      if (pullRequest !== undefined) around.terminal.out(pullRequest)
    }
    return stop.signal.aborted ? 130 : counts.failed > 0 ? 5 : 0
  } finally {
    listening()
    guard.end()
    rest.end()
    await progress.end()
    await logbook.settled()
    await door.close()
  }
}

function modeOf({ once, watch }: Fields): Draining['mode'] {
  if (once && watch)
    throw new Problem('bad_input', '--once and --watch contradict each other', 'Leave one of them out.')
  return watch ? 'watch' : once ? 'once' : 'drain'
}

/** What has started us, npx say, passes a Ctrl-C on that has reached us as well: what comes so soon is the same one. */
const SAME_SIGNAL_MS = 1000

/** The first signal stops the run in good order; the second one takes its usual effect, and the guard ends the agents. */
function onSignals(stop: AbortController): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const off = () => {
    for (const signal of signals) process.off(signal, stopped)
  }
  const stopped = () => {
    if (!stop.signal.aborted) setTimeout(off, SAME_SIGNAL_MS).unref()
    stop.abort()
  }
  for (const signal of signals) process.on(signal, stopped)
  return off
}
