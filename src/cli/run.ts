import { hostname } from 'node:os'
import { join } from 'node:path'
import { configFrom } from '../continuation/settings.ts'
import { milliseconds } from '../core/input.ts'
import { StoreDoor } from '../open.ts'
import { agentMaker } from '../runner/agents/agents.ts'
import { Diary } from '../runner/diary.ts'
import { underWay } from '../runner/earlier.ts'
import { Guard } from '../runner/guard.ts'
import { Logbook } from '../runner/logbook.ts'
import { Rest } from '../runner/marked.ts'
import { drain } from '../runner/runner.ts'
import { findWorkspace } from '../workspace.ts'
import type { GlobalFlags } from './arguments.ts'
import type { Surroundings } from './main.ts'
import { progressOn } from './run-progress.ts'
import { askingFrom, callerFor } from './scope.ts'
import { processScreen } from './screen.ts'

/** Drains the queue with agents; the exit status says whether anything failed. */
export async function run(
  fields: Record<string, unknown>,
  globals: GlobalFlags,
  around: Surroundings,
): Promise<number> {
  const { env } = around
  const asking = askingFrom(globals, env, around.cwd)
  const workspace = await findWorkspace(asking.wish)
  const settings = workspace.settings.run ?? {}
  const words = (fields['command'] ?? []) as string[]
  const named = fields['agent'] as string | undefined
  const agent = agentMaker({
    name: named ?? (words.length > 0 ? undefined : settings.agent),
    words,
    self: [process.execPath, process.argv[1]!],
  })
  const door = new StoreDoor(workspace)
  const caller = callerFor(asking, workspace, door, true)
  const stop = new AbortController()
  const guard = new Guard()
  const folder = join(workspace.root, '.punchlist', 'runs')
  const name = String(fields['name'] ?? `${hostname().split('.')[0]}-${process.pid}`)
  const now = () => new Date()
  const id = `${now().toISOString().replace(/\D/g, '').slice(0, 14)}-${process.pid}`
  const json = globals.json === true
  const progress = progressOn(processScreen(env), { json, caller, signal: stop.signal, now })
  const diary = new Diary(folder, id, now, entry => progress.tell(entry))
  const logbook = new Logbook(caller)
  const rest = new Rest()
  const over = underWay(folder, id)
  const stopped = () => stop.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stopped)
  try {
    const counts = await drain(
      {
        caller,
        agent,
        leaseMs: milliseconds(String(fields['lease'] ?? settings.lease ?? '15m')),
        maxAttempts: Number(fields['maxAttempts'] ?? 3),
        timeoutMs: fields['timeout'] === undefined ? undefined : milliseconds(String(fields['timeout'])),
        budgetUsd: fields['budget'] as number | undefined,
        worktree: fields['worktree'] === true,
        continuation: configFrom(caller.continuation),
        env,
        folder,
        diary,
        guard,
        logbook,
        rest,
        signal: stop.signal,
      },
      {
        workers: Number(fields['workers'] ?? settings.workers ?? 1),
        mode: fields['watch'] === true ? 'watch' : fields['once'] === true ? 'once' : 'drain',
        name,
      },
    )
    const workers = Array.from(
      { length: Number(fields['workers'] ?? settings.workers ?? 1) },
      (_, n) => `${name}-${n + 1}`,
    )
    const summary = await logbook.summary(workers)
    await progress.end()
    if (summary !== undefined && !json) around.terminal.out(`summary: ${summary}`)
    if (fields['pr'] === true && !json) around.terminal.out((await logbook.pullRequest()) ?? '')
    return stop.signal.aborted ? 130 : counts.failed > 0 ? 5 : 0
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stopped)
    guard.end()
    rest.end()
    over()
    await progress.end()
    await door.close()
  }
}
