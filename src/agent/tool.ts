import * as v from 'valibot'
import type { InputSchema, Operation } from '../core/operation.ts'

/** A tool of the agent's own: of the form of an operation, and no command of anybody's. */
export function ownTool<const S extends InputSchema>(spec: {
  readonly name: string
  readonly summary: string
  readonly input: () => S
  readonly run: (input: v.InferOutput<S>) => Promise<Readonly<Record<string, unknown>>>
}): Operation {
  const { name, summary, input, run } = spec
  return {
    name,
    summary,
    input,
    command: '',
    example: '',
    output: ANY,
    run: (_, given) => run(given as v.InferOutput<S>),
  }
}

const ANY = () => v.looseObject({})
