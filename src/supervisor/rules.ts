import { type CompletionMode, isLooser, stricter } from '../core/completion.ts'
import { same } from '../core/move.ts'
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
 * has items, and before one is completed that was there already. They are set
 * by the program that made the supervisor, and not by its model.
 */
export function ruled(op: Operation, options: SupervisorOptions, operator: Caller): Operation {
  const completion = completionOf(options)
  if (!completion || (op.name !== createTodo.name && op.name !== completeTodo.name)) return op
  return {
    ...op,
    async run(caller, input) {
      await tightened(asOperator(operator), completion, options.check)
      return await op.run(caller, input)
    },
  }
}

/** `punchlist agent` acts as a model, but its check is one that a person typed. */
function asOperator(caller: Caller): Caller {
  return {
    ...caller,
    authority: async () => {
      const { who, tasks } = await caller.authority()
      return { who: who === 'model' && tasks.length === 0 ? 'program' : who, tasks }
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
  // A turn that is yet to begin takes the mode from its caller.
  const looser = begun && isLooser(present.completionMode, completion)
  const unchecked = checkCommand && !same(present?.checkCommand, checkCommand)
  await acceptSet(caller, [checkCommand])
  const mode = present ? stricter(present.completionMode, completion) : completion
  if (looser || unchecked) await openTurn(caller, { completion: mode, checkCommand })
}
