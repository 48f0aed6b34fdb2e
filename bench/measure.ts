import { spawnSync } from 'node:child_process'

/** One line of the table: a ratio, and the bar it is held to. */
export interface Row {
  readonly what: string
  readonly ours: string
  readonly against: string
  readonly ratio: number
  readonly bar: number
  /** Whether the ratio must stay below the bar, or reach it. */
  readonly must: 'at most' | 'at least'
}

/** The least processor time of several runs, interleaved so that both see the same weather. In milliseconds. */
export function processorTime(commands: readonly (readonly string[])[], runs: number, cwd: string): number[] {
  const best = commands.map(() => Infinity)
  for (let n = 0; n < runs; n++) {
    commands.forEach((command, index) => {
      best[index] = Math.min(best[index]!, once(command, cwd))
    })
  }
  return best
}

// The shell's own `time`: Node does not tell what a child has used. Five at a time, as it counts in milliseconds.
function once(command: readonly string[], cwd: string): number {
  const script = 'TIMEFORMAT="%U %S"; time for n in 1 2 3 4 5; do "$@" >/dev/null || exit; done'
  const { stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...command], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command.join(' ')}: exit ${status}\n${stderr}`)
  const [user, system] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  return ((user! + system!) * 1000) / 5
}

/** Runs each kind of work in turns, and gives back how many times a second each was done, by its best turn. */
export async function rates(
  works: readonly ((times: number) => Promise<void>)[],
  times: number,
  turns: number,
): Promise<number[]> {
  const best = works.map(() => 0)
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, work] of works.entries()) {
      const began = performance.now()
      await work(times)
      best[index] = Math.max(best[index]!, (times * 1000) / (performance.now() - began))
    }
  }
  return best
}

/** How long a command takes, which must succeed; in milliseconds. */
export function timed(command: readonly string[], cwd: string): number {
  const began = performance.now()
  const { status, stderr } = spawnSync(command[0]!, command.slice(1), {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1e9,
  })
  if (status !== 0) throw new Error(`${command.join(' ')}: exit ${status}\n${String(stderr)}`)
  return performance.now() - began
}

/** A command against a Node that does nothing. */
export function againstBare(what: string, times: readonly number[], bare: readonly number[], bar: number): Row {
  return {
    what,
    ours: ms(median(times)),
    against: `node -e 0: ${ms(median(bare))}`,
    ratio: median(times) / median(bare),
    bar,
    must: 'at most',
  }
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}

export function ms(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
}

export function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')}/s`
}
