import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Builds what the tests of the command line run, so that they never see an old build. */
export default function build(): void {
  const root = join(import.meta.dirname, '../..')
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}
