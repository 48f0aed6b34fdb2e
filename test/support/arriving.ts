import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answer, type Surrounded } from './cli.ts'

/** The folder that a queue keeps its records in. */
export const OWN = 'coordination/.punchlist'

/** Adds a task as its user does. */
export async function addHere(title: string, here: Surrounded): Promise<void> {
  await answer(['queue', 'add', title, '--description', `About ${title}.`, '--expect', 'It is done.'], here)
}

/** A task as a person or a script writes it. */
export function writeByHand(cwd: string, id: string, title: string): void {
  const name = `${id}_${title.toLowerCase()}`
  const folder = join(cwd, 'coordination/to_execute', name)
  mkdirSync(folder, { recursive: true })
  const head = `# Request #${id.slice(4)}: ${title}\n\n**Type:** Standard\n**Priority:** NORMAL\n`
  const text = `${head}**Posted:** 2026-01-01T00:00:00.000Z\n\n## Task Description\n\nDo it.\n\n## Expected Response\n\nDone.\n`
  writeFileSync(join(folder, `${name}.md`), text)
}

/** Every file below a folder, with what is in it. */
export function contents(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  return Object.fromEntries(files.map(file => [file, readFileSync(file, 'latin1')]))
}
