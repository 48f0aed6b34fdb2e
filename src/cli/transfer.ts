import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { moveEntry } from '../core/file-entries.ts'
import { removeFile, writeDurably } from '../core/files.ts'
import { parsedJson } from '../core/input.ts'
import { Problem } from '../core/problem.ts'
import { harmlessLine, jsonText } from '../core/text.ts'
import { StoreDoor } from '../open.ts'
import { exportFrom, importInto } from '../transfer.ts'
import { findWorkspace } from '../workspace.ts'
import type { GlobalFlags } from './arguments.ts'
import type { Surroundings } from './main.ts'
import { askingFrom, callerFor } from './scope.ts'
import { shown } from './show.ts'

/** `punchlist export`: to a file, which is the old one or the whole new one at every instant, or to standard output. */
export async function exportTo(to: unknown, globals: GlobalFlags, around: Surroundings): Promise<number> {
  const { terminal, cwd } = around
  const door = await doorFor(globals, around)
  try {
    const document = await exportFrom(await door.store(false))
    for (const warning of door.warnings(false)) terminal.err(harmlessLine(`warning: ${warning}`))
    const text = jsonText(document)
    if (typeof to !== 'string') {
      terminal.out(text)
      return 0
    }
    const file = resolve(cwd, to)
    if (document.items.length === 0 && existsSync(file)) {
      const hint = 'Check --root and --store, or delete the file first.'
      throw new Problem('nothing_to_do', `There is nothing to export, and ${to} would be written over`, hint, {
        file: to,
      })
    }
    writeWhole(file, text)
    const answer = { items: document.items.length, to }
    terminal.out(globals.json ? jsonText(answer) : shown('export', answer, terminal))
    return 0
  } finally {
    await door.close()
  }
}

export async function importFrom(file: string, globals: GlobalFlags, around: Surroundings): Promise<number> {
  const { terminal } = around
  if (file !== '-' && isFolder(resolve(around.cwd, file))) {
    return await importFolder(resolve(around.cwd, file), globals, around)
  }
  const hint = 'Import a document that punchlist export made.'
  const document = parsedJson(await terminal.read(file), file, hint)
  const door = await doorFor(globals, around)
  try {
    const answer = await importInto(await door.store(true), document, door.checks())
    terminal.out(globals.json ? jsonText(answer) : shown('import', answer, terminal))
    return 0
  } finally {
    await door.close()
  }
}

/** What cannot be looked at, a link that leads to itself for one, is left to whatever reads it to refuse. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** A folder is one that Claude Code keeps tasks in. */
async function importFolder(folder: string, globals: GlobalFlags, around: Surroundings): Promise<number> {
  const { terminal } = around
  const asking = askingFrom(globals, around.env, around.cwd)
  const workspace = await findWorkspace(asking.wish)
  const door = new StoreDoor(workspace)
  try {
    const { importTasks } = await import('../hosts/claude-code/importing.ts')
    const answer = await importTasks(folder, workspace.root, conversationId =>
      callerFor({ ...asking, scope: { conversationId } }, workspace, door, true),
    )
    terminal.out(globals.json ? jsonText(answer) : shown('import', answer, terminal))
    return 0
  } finally {
    await door.close()
  }
}

async function doorFor(globals: GlobalFlags, { env, cwd }: Surroundings): Promise<StoreDoor> {
  return new StoreDoor(await findWorkspace(askingFrom(globals, env, cwd).wish))
}

function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`
  try {
    writeDurably(draft, text)
    try {
      moveEntry(draft, file)
    } catch (error) {
      removeFile(draft)
      throw error
    }
  } catch (error) {
    throw new Problem(
      'bad_input',
      `${file} cannot be written: ${(error as Error).message}`,
      'Name another file with --to.',
      {
        file,
      },
    )
  }
}
