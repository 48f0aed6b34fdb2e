import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { words } from '../../src/core/words.ts'
import { punchlist } from './cli.ts'

export interface Typed {
  /** What stands after `$ punchlist `. */
  readonly args: string[]
  readonly line: number
  /** What the page says is printed. */
  readonly printed: string
}

/** The console blocks of a page: each a list of commands and what they print. */
export function consoleBlocks(page: string): Typed[][] {
  const text = readFileSync(join(import.meta.dirname, '../..', page), 'utf8')
  return [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(match => {
    const first = text.slice(0, match.index).split('\n').length + 1
    const commands: Typed[] = []
    match[1]!
      .trimEnd()
      .split('\n')
      .forEach((line, index) => {
        const typed = /^\$ (?:npx )?punchlist ?(.*)$/.exec(line)?.[1]
        if (typed !== undefined) commands.push({ args: words(typed)!, line: first + index, printed: '' })
        else if (commands.length > 0) {
          const last = commands.pop()!
          commands.push({ ...last, printed: `${last.printed}${line}\n` })
        }
      })
    return commands
  })
}

/** Types a block in a folder, and gives back what was really printed, command by command. */
export async function play(block: readonly Typed[], cwd: string): Promise<string[]> {
  const printed: string[] = []
  for (const { args } of block) {
    const { stdout, stderr } = await punchlist(args, { cwd })
    printed.push(stable(`${stdout}${stderr}`, cwd))
  }
  return printed
}

/** What differs from run to run is written as the pages write it. */
function stable(text: string, cwd: string): string {
  return text
    .replaceAll(cwd, '/home/ann/project')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-11-15 09:30:00')
    .replace(/until \d\d:\d\d UTC/g, 'until 10:00 UTC')
    .replace(/until \d\d:\d\d:\d\d UTC/g, 'until 10:00:00 UTC')
    .replace(/^\d\d:\d\d:\d\d  /gm, '09:30:00  ')
    .replace(/  \d+(?:\.\d)?s(?=  |$)/gm, '  0.1s')
    .replaceAll('tester', 'ann')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '0198a7c2-…')
}
