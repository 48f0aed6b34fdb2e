import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Problem } from '../core/problem.ts'
import type { Task } from '../queue/record.ts'
import type { Run } from './run.ts'

/** Refuses a run with worktrees where there can be none, before anything is claimed. */
export async function refuseWithoutRepository(root: string): Promise<void> {
  await git(root, 'rev-parse', '--verify', '-q', 'HEAD')
}

/** The folder that an agent works in: the workspace's own, or a worktree for the task alone, on a branch of its name. What the agent made stays there. */
export async function placeFor({ caller, worktree, folder }: Run, { id }: Task): Promise<string> {
  if (!worktree) return caller.here
  const cwd = join(folder, 'worktrees', id)
  if (existsSync(cwd)) return cwd
  const branch = `punchlist/${id}`
  const known = (await git(caller.root, 'branch', '--list', branch)) !== ''
  await git(caller.root, 'worktree', 'add', '-q', ...(known ? [cwd, branch] : ['-b', branch, cwd]))
  return cwd
}

const execute = promisify(execFile)

async function git(root: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await execute('git', ['-C', root, ...args])).stdout.trim()
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    throw new Problem(
      'bad_input',
      `git ${args[0]} failed in ${root}: ${stderr.trim() || message.split('\n')[0]!}`,
      'Worktrees take a git repository with a commit. Run without --worktree, or mend what git says.',
      { root },
    )
  }
}
