import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Accepted, git, refuseForeignPrograms, refuseLinks, repositoryOf } from '../core/git.ts'
import { Problem } from '../core/problem.ts'
import type { Task } from '../queue/record.ts'
import type { Failed } from './attempt.ts'
import type { Run } from './run.ts'

/** Refuses a run with worktrees where there can be none, before anything is claimed. */
export async function refuseWithoutRepository(root: string, accepted: Accepted): Promise<void> {
  await git(root, ['rev-parse', '--verify', '-q', 'HEAD'])
  await refuseForeignPrograms(root, accepted)
}

/**
 * The folder that an agent works in: the workspace's own, or a worktree for the
 * task alone, on a branch of its name. What the agent made stays there. Where
 * there can be none, the task has failed, and not the run.
 */
export async function placeFor({ caller, worktree, state, accepted }: Run, { id }: Task): Promise<string | Failed> {
  if (!worktree) return caller.here
  const { root } = caller
  const branch = `punchlist/${id}`
  try {
    const folder = realpathSync(state.make('worktrees'))
    const cwd = join(folder, id)
    const there = await worktreeAt(root, cwd)
    if (there === 'whole') return cwd
    // Whoever works here may have changed the configuration since the run began.
    await refuseForeignPrograms(root, accepted)
    refuseLinks(folder, [id])
    refuseLinks(repositoryOf(root)!.commonDir, written(id, branch))
    if (there === 'cut off') await git(root, ['worktree', 'remove', '-f', '-f', cwd], { writes: true })
    const known = (await git(root, ['branch', '--list', branch])) !== ''
    const words = known ? [cwd, branch] : ['-b', branch, cwd]
    await git(root, ['worktree', 'add', '-q', ...words], { writes: true })
    return cwd
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { type: 'worktree', text: error.message }
  }
}

/** What git writes in a repository for a new worktree. */
function written(id: string, branch: string): string[] {
  const ref = `refs/heads/${branch}`
  return ['HEAD', 'config', 'config.worktree', 'packed-refs', `worktrees/${id}`, ref, `${ref}.lock`, `logs/${ref}`]
}

/** What git knows of a worktree; `cut off` where it was killed while making it, before any agent came, or where somebody has taken the folder away. */
async function worktreeAt(root: string, cwd: string): Promise<'none' | 'whole' | 'cut off'> {
  const known = (await git(root, ['worktree', 'list', '--porcelain'])).split('\n\n')
  const lines = known.map(block => block.split('\n')).find(([first]) => first === `worktree ${cwd}`)
  if (!lines) return 'none'
  return lines.includes('locked initializing') || !existsSync(cwd) ? 'cut off' : 'whole'
}
