import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { words } from '../core/words.ts'
import type { Surroundings } from './main.ts'

/** What an agent and the person who runs it would type. `fails` marks what is refused on purpose. */
const SCENES: readonly { readonly say: string; readonly run: string; readonly fails?: true }[] = [
  {
    say: 'An agent is given a job and writes its plan down, in one call.',
    run: 'plan turn release --completion evidence',
  },
  {
    say: '',
    run: 'plan add "Write the changelog" "Tag the release" "Tell the users" --criteria "someone else can look at it"',
  },
  { say: 'It starts the first item and gets it done, naming what shows it.', run: 'plan start' },
  { say: '', run: 'plan complete 1 "CHANGELOG.md has the 14 changes since v1.2"' },
  {
    say: 'It says "done" without anything to show. In this mode that is refused.',
    run: 'plan complete 2 "done"',
    fails: true,
  },
  { say: 'Its context is cut. A new process asks what is left: the plan is still there.', run: 'plan list' },
  { say: 'So it goes on until nothing remains.', run: 'plan complete 2 "tag v1.3, commit 4be1f7a"' },
  { say: '', run: 'plan complete 3 "nobody is subscribed yet" --status cancelled' },
  { say: 'And who did what, and why, can be read afterwards.', run: 'log' },
]

/** Plays a short plan through the real command line, in a folder that is gone afterwards. */
export async function demo({ terminal, env }: Surroundings): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'punchlist-demo-'))
  try {
    for (const { say, run, fails } of SCENES) {
      if (say) terminal.out(`\n# ${say}`)
      terminal.out(`$ punchlist ${run}`)
      const { stdout, stderr, status } = spawnSync(process.execPath, [process.argv[1]!, ...words(run)!], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...env, PUNCHLIST_ROOT: folder, PUNCHLIST_ACTOR: 'demo-agent', PUNCHLIST_STORE: '', PUNCHLIST_TURN: '' },
      })
      terminal.out(`${stdout}${stderr}`.trimEnd())
      if ((status === 0) === (fails === true)) throw new Error(`the demo went wrong at "${run}": exit ${status}`)
    }
    terminal.out('\nThat was a temporary folder. In your own: punchlist plan add "…", or punchlist --help')
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
