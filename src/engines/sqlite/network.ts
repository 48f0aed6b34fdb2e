import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { Problem } from '../../core/problem.ts'

/** As Linux numbers them. Their locks and shared memory do not reach other machines, so two writers would destroy a file. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
  0x5346414f: 'AFS',
  0x6b414653: 'AFS',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
}

export function networkFileSystem(type: number): string | undefined {
  // Some systems give the number with its sign.
  return NETWORK[type >>> 0]
}

/** A database is not made where several machines might share it; the folder itself need not be there yet. */
export function refuseNetwork(folder: string): void {
  let there = folder
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there)
  const name = networkFileSystem(statfsSync(there).type)
  if (!name) return
  throw new Problem(
    'bad_input',
    `${folder} is on a network file system (${name}), where SQLite cannot keep a list safe`,
    'Name a file on a local disk (--store sqlite:PATH), or use PostgreSQL (--store postgres://…).',
    { folder, fileSystem: name },
  )
}
