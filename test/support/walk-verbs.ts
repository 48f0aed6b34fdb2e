import { createInterface } from 'node:readline'
import { open, Problem } from '../../src/index.ts'

/** What one line on standard input asks for, and on whose behalf. */
interface Asked {
  readonly room: 'plan' | 'backlog' | 'queue' | 'worklog'
  readonly verb: string
  readonly input: unknown
  readonly scope: { readonly actor: string; readonly session?: string; readonly conversationId?: string }
}

type Verbs = Readonly<Record<string, (input: unknown) => Promise<unknown>>>

// Carries out one verb after another, as a program that stays open does: a line of JSON in, a line of JSON out.
const list = await open({ root: process.argv[2]! })
process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { room, verb, input, scope } = JSON.parse(line) as Asked
  const verbs = list.as(scope)[room] as unknown as Verbs
  const answer = await verbs[verb]!(input).then(
    ok => ({ ok }),
    (error: unknown) => {
      if (error instanceof Problem) return { code: error.code, message: error.message }
      return { code: 'crash', message: (error as Error).stack }
    },
  )
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
await list.close()
