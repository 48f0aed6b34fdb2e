import { spawnSync } from 'node:child_process'
import { scratch } from './scratch.ts'

export interface SmallDisk {
  /** Writes that were answered before the disk was full, and rows that are really there. */
  readonly answered: number
  readonly stored: number
  readonly refusals: string[]
  readonly afterwards: string
}

/** Runs a program with a file system of so many KiB, and of so many files, as its argument, in a mount namespace that goes with it. */
export async function onSmallDisk(kib: number, program: string, files = 100_000): Promise<SmallDisk> {
  const folder = scratch()
  const script = `mount -t tmpfs -o size=${kib}k,nr_inodes=${files} tmpfs "$1" && exec "$2" "$3" "$1"`
  const namespace = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
  const ran = spawnSync('unshare', [...namespace, 'sh', '-c', script, 'sh', folder, process.execPath, program], {
    encoding: 'utf8',
  })
  if (ran.status !== 0) throw new Error(`a small disk could not be had, or the program on it failed: ${ran.stderr}`)
  return JSON.parse(ran.stdout) as SmallDisk
}
