import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Problem } from '../core/problem.ts'
import type { Task } from '../queue/record.ts'
import type { Failed } from './attempt.ts'
import type { Run } from './run.ts'

/** Refuses a run with worktrees where there can be none, before anything is claimed. */
export async function refuseWithoutRepository(root: string): Promise<void> {
  await git(root, 'rev-parse', '--verify', '-q', 'HEAD')
}

/**
 * The folder that an agent works in: the workspace's own, or a worktree for the
 * task alone, on a branch of its name. What the agent made stays there. Where
 * there can be none, the task has failed, and not the run.
 */
export async function placeFor({ caller, worktree, folder }: Run, { id }: Task): Promise<string | Failed> {
  if (!worktree) return caller.here
  const cwd = join(realpathSync(folder), 'worktrees', id)
  try {
    const there = await worktreeAt(caller.root, cwd)
    if (there === 'whole') return cwd
    if (there === 'cut off') await git(caller.root, 'worktree', 'remove', '-f', '-f', cwd)
    const branch = `punchlist/${id}`
    const known = (await git(caller.root, 'branch', '--list', branch)) !== ''
    await git(caller.root, 'worktree', 'add', '-q', ...(known ? [cwd, branch] : ['-b', branch, cwd]))
    return cwd
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { type: 'worktree', text: error.message }
  }
}

/** What git knows of a worktree; `cut off` where it was killed while making it, before any agent came, or where somebody has taken the folder away. */
async function worktreeAt(root: string, cwd: string): Promise<'none' | 'whole' | 'cut off'> {
  const known = (await git(root, 'worktree', 'list', '--porcelain')).split('\n\n')
  const lines = known.map(block => block.split('\n')).find(([first]) => first === `worktree ${cwd}`)
  if (!lines) return 'none'
  return lines.includes('locked initializing') || !existsSync(cwd) ? 'cut off' : 'whole'
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
