import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** How much each of several processes gets done on one SQLite file in the same milliseconds: they begin together. */
export async function raceOnFile(path: string, racers: number, ms: number): Promise<number[]> {
  const worker = join(import.meta.dirname, 'sqlite-worker.ts')
  const processes = Array.from({ length: racers }, (_, n) => {
    const child = spawn(process.execPath, [worker, path, `w${n}`, String(ms)], { stdio: ['pipe', 'pipe', 'inherit'] })
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
  })
  await Promise.all(processes.map(({ lines }) => lines.next()))
  for (const { child } of processes) child.stdin.write('go\n')
  return await Promise.all(processes.map(async ({ lines }) => Number((await lines.next()).value)))
}
