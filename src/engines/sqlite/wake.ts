import { type FSWatcher, watch } from 'node:fs'

/**
 * Waits until `ready` or until the time is over. Every write, in whatever
 * process, touches the write-ahead log, so watching that file wakes a waiter
 * within a millisecond; it is made anew now and then, hence the re-arming. A
 * lost notice costs at most `lookMs`, the time between two looks.
 */
export async function wake(
  wal: string,
  ready: () => boolean,
  { ms, lookMs, signal }: { ms: number; lookMs: number; signal?: AbortSignal | undefined },
): Promise<void> {
  const end = performance.now() + ms
  while (!signal?.aborted && !ready()) {
    const left = end - performance.now()
    if (left <= 0) return
    await touched(wal, ready, Math.min(left, lookMs), signal)
  }
}

async function touched(wal: string, ready: () => boolean, ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>(resolve => {
    const watcher = watching(wal, done)
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
    // What was written between the last look and the arming of the watcher.
    if (ready()) done()
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      watcher?.close()
      resolve()
    }
  })
}

function watching(wal: string, listener: () => void): FSWatcher | undefined {
  try {
    return watch(wal, { persistent: true }, listener).on('error', listener)
  } catch {
    // No such file for the moment, or no watches left: looking now and then remains.
    return undefined
  }
}
