import { COMPLETION_MODES, type CompletionMode } from '../core/completion.ts'
import type { Caller, Operation } from '../core/operation.ts'
import { acceptSet } from '../plans/checks.ts'
import { currentTurn } from '../plans/current-turn.ts'
import { completeTodo, createTodo } from '../plans/operations.ts'
import { openTurn } from '../plans/turns.ts'
import type { SupervisorOptions } from './options.ts'

/** How a supervisor believes completions, where it says. */
export function completionOf({ completion, check }: SupervisorOptions): CompletionMode | undefined {
  return completion ?? (check ? 'verified' : undefined)
}

/**
 * An operation under the rules of its supervisor: they are the turn's before it
 * has items, and before one is completed that was there already.
 */
export function ruled(op: Operation, options: SupervisorOptions): Operation {
  const completion = completionOf(options)
  if (!completion || (op.name !== createTodo.name && op.name !== completeTodo.name)) return op
  return {
    ...op,
    async run(caller, input) {
      await tightened(caller, completion, options.check)
      return await op.run(caller, input)
    },
  }
}

async function tightened(
  caller: Caller,
  completion: CompletionMode,
  checkCommand: readonly string[] | undefined,
): Promise<void> {
  const present = await currentTurn(caller)
  const begun = present !== undefined && present.id !== ''
  const looser = begun && COMPLETION_MODES.indexOf(present.completionMode) < COMPLETION_MODES.indexOf(completion)
  // A turn that is yet to begin takes the mode from its caller, but has no check.
  const unchecked = checkCommand && JSON.stringify(present?.checkCommand) !== JSON.stringify(checkCommand)
  await acceptSet(caller, [checkCommand])
  if (looser || unchecked) await openTurn(caller, { completion, checkCommand })
}
