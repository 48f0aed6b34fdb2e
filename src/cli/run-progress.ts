import type { Caller } from '../core/operation.ts'
import { jsonText } from '../core/text.ts'
import { checkpointName, readCheckpoint } from '../queue/checkpoints.ts'
import { task as kind } from '../queue/kind.ts'
import type { Entry } from '../runner/diary.ts'
import { LiveArea } from './live-area.ts'
import { Lines } from './run-lines.ts'
import { type Left, liveLines } from './run-live.ts'
import { SoFar } from './run-so-far.ts'
import type { Screen } from './screen.ts'

/** How whoever started a run sees it going on. */
export interface Progress {
  tell(entry: Entry): void
  /** What the agent of a task said last. */
  said(task: string, text: string): void
  /** Leaves what stays, and nothing else. */
  end(): Promise<void>
}

export interface Watching {
  readonly json: boolean
  readonly caller: Pick<Caller, 'store'>
  /** Aborted when the run is to stop. */
  readonly signal: AbortSignal
  readonly now: () => Date
}

/** Lines that change on a terminal, lines that stay elsewhere, and what happened as JSON for programs. */
export function progressOn(screen: Screen, watching: Watching): Progress {
  if (screen.live && !watching.json) return new LiveProgress(screen, watching)
  const lines = new Lines()
  return {
    tell(entry) {
      const line = watching.json ? jsonText(entry) : lines.for(entry)
      if (line !== undefined) screen.write(`${line}\n`)
    },
    said: () => undefined,
    end: async () => undefined,
  }
}

/** A person reads no faster, and a terminal far away takes its time. */
const DRAW_MS = 250
const LOOK_MS = 1000

class LiveProgress implements Progress {
  private readonly screen: Screen
  private readonly watching: Watching
  private readonly area: LiveArea
  private readonly soFar = new SoFar()
  private readonly lines = new Lines()
  private readonly drawing: NodeJS.Timeout
  private readonly looking: NodeJS.Timeout
  private staying: string[] = []
  private left: Left | undefined
  private look: Promise<void> | undefined
  private readonly checkpoints = new Map<string, number>()

  constructor(screen: Screen, watching: Watching) {
    this.screen = screen
    this.watching = watching
    this.area = new LiveArea(screen)
    this.drawing = setInterval(() => this.draw(), DRAW_MS)
    this.looking = setInterval(() => void (this.look ??= this.lookAround()), LOOK_MS)
  }

  tell(entry: Entry): void {
    this.soFar.take(entry)
    // Who is at what can be seen below.
    const line = entry.what === 'claimed' ? undefined : this.lines.for(entry)
    if (line !== undefined) this.staying.push(line)
  }

  said(task: string, text: string): void {
    this.soFar.hear(task, text)
  }

  async end(): Promise<void> {
    clearInterval(this.drawing)
    clearInterval(this.looking)
    this.area.draw(this.staying.splice(0), [])
    await this.look
  }

  private draw(): void {
    const { colour } = this.screen
    const { signal, now } = this.watching
    const showing = { ...this.screen.size(), colour, now: now().getTime(), left: this.left, stopping: signal.aborted }
    this.area.draw(this.staying.splice(0), liveLines(this.soFar, showing))
  }

  /** What only the store knows. It may be busy or away: then what was seen last stands. */
  private async lookAround(): Promise<void> {
    const { store } = this.watching.caller
    try {
      const open = { status: ['to_execute', 'in_progress'] }
      const [all, waiting] = [
        await store.count(kind, open),
        await store.count(kind, { ...open, where: { awaiting: 1 } }),
      ]
      this.left = {
        left: (all['to_execute'] ?? 0) - (waiting['to_execute'] ?? 0),
        waiting: Object.values(waiting).reduce((sum, n) => sum + n, 0),
      }
      await this.lookAtCheckpoints()
    } catch {
      // Asked again in a second.
    } finally {
      this.look = undefined
    }
  }

  private async lookAtCheckpoints(): Promise<void> {
    const { store } = this.watching.caller
    const ids = this.soFar.atWork.map(({ task }) => task)
    for (const id of this.checkpoints.keys()) if (!ids.includes(id)) this.checkpoints.delete(id)
    if (ids.length === 0) return
    const tasks = await store.find(kind, { where: { id: ids }, fields: ['checkpoints'] })
    const fresh = tasks.filter(({ id, checkpoints }) => checkpoints > (this.checkpoints.get(id) ?? 0))
    if (fresh.length === 0) return
    const texts = await store.texts(
      kind,
      fresh.map(({ id }) => id),
    )
    for (const { id, checkpoints } of fresh) {
      this.checkpoints.set(id, checkpoints)
      const text = texts.get(id)?.[checkpointName(checkpoints)]
      if (text !== undefined) this.soFar.hear(id, readCheckpoint(text).summary.split('\n')[0]!)
    }
  }
}
