import * as v from 'valibot'
import { runCheck } from '../core/check.ts'
import { described, wholeNumber } from '../core/input.ts'
import type { Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import type { Conceal } from './concealing.ts'
import type { Folder } from './folder.ts'
import { ownTool } from './tool.ts'

const PATIENCE_S = 120
const OUTPUT_CHARACTERS = 20_000

/** Running the programs that the user has named, and no other. */
export function runningTool(folder: Folder, allowed: readonly string[], conceal: Conceal): Operation {
  return ownTool({
    name: 'run_command',
    summary: `Run a program in the working folder, without a shell, and get the end of what it prints. Allowed: ${allowed.join(', ')}.`,
    input: () =>
      v.object({
        program: v.pipe(v.string(), v.maxLength(1000), v.description(`one of: ${allowed.join(', ')}`)),
        args: v.optional(
          v.pipe(v.array(v.string()), v.maxLength(1000), v.description('each word by itself; nothing is expanded')),
          [],
        ),
        seconds: described(wholeNumber(1, 600), `stopped after so many; ${PATIENCE_S} if absent`),
      }),
    async run({ program, args, seconds = PATIENCE_S }) {
      if (!allowed.includes(program)) {
        const hint = `Use one of: ${allowed.join(', ')}. Only the user can allow others.`
        throw new Problem('move_refused', `${program.slice(0, 100)} is not allowed`, hint, { allowed })
      }
      if (args.some(word => word.includes('\0'))) {
        throw new Problem('bad_input', 'args: a word has a zero character', 'Send it without.', {})
      }
      const { exit, signal, durationMs, output } = await runCheck([program, ...args], {
        cwd: folder.path,
        now: () => new Date(),
        timeoutMs: seconds * 1000,
        keep: OUTPUT_CHARACTERS,
        quiet: true,
      })
      return { exit, ...(signal === null ? {} : { signal }), durationMs, output: conceal(output) }
    },
  })
}
