import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeOnce as writeOnceAt } from '../core/files.ts'
import { Problem } from '../core/problem.ts'
import { StoreDoor } from '../open.ts'
import { findWorkspace, type WorkspaceWish } from '../workspace.ts'

/** Makes what a workspace has: its settings and its store. What is there is kept; a store that cannot be read is refused. */
export async function initialise(wish: WorkspaceWish): Promise<{ root: string; made: string[] }> {
  const workspace = await findWorkspace(wish)
  const made: string[] = []
  const file = workspace.store.startsWith('sqlite:') ? workspace.store.slice('sqlite:'.length) : undefined
  if (file !== undefined && !existsSync(file)) made.push(file)
  const door = new StoreDoor(workspace)
  await door.store(true)
  await door.close()
  const settings = join(workspace.root, 'punchlist.json')
  if (writeOnce(settings, settingsText(workspace.root, wish.store))) made.push(settings)
  return { root: workspace.root, made }
}

/** They are about hosts: without one, what they ask for would not happen. */
export function refuseFlags(flags: Readonly<Record<string, boolean>>): void {
  const given = Object.keys(flags).filter(name => flags[name])
  if (given.length === 0) return
  const options = given.map(name => (name === 'dryRun' ? '--dry-run' : `--${name}`))
  throw new Problem(
    'bad_input',
    `${options.join(', ')} needs the name of a host`,
    `For example: punchlist init claude-code ${options.join(' ')}`,
    { options },
  )
}

function settingsText(root: string, store: string | undefined): string {
  const schema = './node_modules/punchlist/schema/punchlist.schema.json'
  const known = existsSync(join(root, schema)) ? { $schema: schema } : {}
  // A URL with a password in it does not belong into a file that is committed.
  const kept = store === undefined || /^postgres(?:ql)?:\/\/[^/]*:[^/]*@/.test(store) ? 'files' : store
  return `${JSON.stringify({ ...known, store: kept }, null, 2)}\n`
}

function writeOnce(file: string, text: string): boolean {
  try {
    return writeOnceAt(file, text, 0o666)
  } catch (error) {
    if (error instanceof Problem) throw error
    const { message } = error as Error
    throw new Problem(
      'store_read_only',
      `${file} cannot be written: ${message}`,
      'Make the folder writable for this user.',
      { file },
    )
  }
}
