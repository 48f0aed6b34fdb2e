import { readFileSync } from 'node:fs'

/**
 * The clock that leases are measured by: milliseconds since the machine was
 * started, the same for every process on it, whatever is done to the wall
 * clock. A lease names the run of the machine too: it does not outlive it.
 */
export function sinceBoot(): number {
  return ON_LINUX ? Number(process.hrtime.bigint() / 1_000_000n) : Date.now()
}

let boot: string | undefined

/** Which run of the machine this is; elsewhere than on Linux it cannot be told. */
export function thisBoot(): string {
  boot ??= ON_LINUX ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : '-'
  return boot
}

/** Lets a little time pass: others are about to be done. */
export function pause(ms: number): void {
  Atomics.wait(nobody, 0, 0, ms)
}

const nobody = new Int32Array(new SharedArrayBuffer(4))

export const ON_LINUX = process.platform === 'linux'
