import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Problem } from '../core/problem.ts'
import type { Task } from '../queue/record.ts'
import type { Run } from './run.ts'

const git = promisify(execFile)

/** The folder that an agent works in, for as long as it does. */
export interface Place extends AsyncDisposable {
  readonly cwd: string
}

/** The workspace's own folder, or a worktree for the task alone, on a branch of its name. It stays: what the agent made is in it. */
export async function placeFor({ caller, worktree, folder }: Run, { id }: Task): Promise<Place> {
  const done = { [Symbol.asyncDispose]: async () => undefined }
  if (!worktree) return { cwd: caller.here, ...done }
  const cwd = join(folder, 'worktrees', id)
  if (!existsSync(cwd)) {
    const branch = `punchlist/${id}`
    const known = await git('git', ['-C', caller.root, 'branch', '--list', branch])
    const how = known.stdout.trim() === '' ? ['-b', branch, cwd] : [cwd, branch]
    await git('git', ['-C', caller.root, 'worktree', 'add', '-q', ...how]).catch((error: unknown) => {
      throw new Problem(
        'bad_input',
        `There is no worktree for ${id}: ${(error as { stderr?: string }).stderr?.trim() ?? String(error)}`,
        'A worktree takes a git repository with a commit. Run without --worktree, or mend what git says.',
        { id },
      )
    })
  }
  return { cwd, ...done }
}
