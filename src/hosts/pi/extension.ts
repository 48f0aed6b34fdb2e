import { ownCommand, runProgram } from '../program.ts'
import { list, record, text } from '../reading.ts'
import { conversationNamed } from '../scoping.ts'
import { talkThrough } from '../talk.ts'
import { planTools, type Tool } from './tools.ts'

/** As much of pi as we use. */
export interface Pi {
  on(event: string, handler: (event: Fields, context: Context) => unknown): unknown
  registerTool(tool: Tool): void
  sendMessage(message: Message, options: { readonly triggerTurn: boolean }): void
}

type Fields = Readonly<Record<string, unknown>>

interface Context {
  readonly cwd: string
  readonly sessionManager: { getSessionId(): string; getBranch(): readonly unknown[] }
}

interface Message {
  readonly customType: string
  readonly content: string
  readonly display: boolean
}

/**
 * The extension. pi asks before it settles, and goes on if told to, so there is
 * no countdown and nothing to send later. Whatever goes wrong in here, pi goes on.
 */
export default function punchlist(pi: Pi): void {
  const command = ownCommand(undefined, import.meta.url)
  const talkIn = ({ cwd }: Context) =>
    talkThrough(async input => (await runProgram(command, ['hook', 'pi'], { cwd, input })).stdout, cwd)

  for (const tool of planTools(async (args, input, context, signal) => {
    const { cwd, sessionManager } = context as Context
    const by = process.env['PUNCHLIST_ACTOR'] || 'pi'
    const conversation = conversationNamed(process.env) ?? sessionManager.getSessionId()
    const env = { PUNCHLIST_CONVERSATION: conversation, PUNCHLIST_ACTOR: by }
    return await runProgram(command, args, { cwd, input, env, signal, patient: true })
  })) {
    pi.registerTool(tool)
  }

  const on = (event: string, work: (event: Fields, context: Context, session: string) => Promise<unknown>) =>
    pi.on(event, async (told, context) => {
      try {
        return await work(told, context, context.sessionManager.getSessionId())
      } catch {
        return undefined
      }
    })

  on('input', async ({ source, text: said }, context, session) => {
    if (source !== 'extension') await talkIn(context).tell(session, { type: 'spoke', text: text(said) ?? '' })
  })

  on('agent_before_settle', async ({ outcome, entries, context: around, continue: goesOn }, context, session) => {
    const talk = talkIn(context)
    if (outcome !== 'completed')
      return void (await talk.tell(session, { type: 'failed', aborted: outcome === 'aborted' }))
    // Somebody else has more for it to do, the user perhaps.
    if (goesOn === true || list(record(around)['pendingMessages']).length > 0) return undefined
    const reply = await talk.tell(session, { type: 'stopping' })
    if (reply.type !== 'go_on') return undefined
    return { entries: [...list(entries), { type: 'custom_message', ...message(reply.text) }], continue: true }
  })

  // What the model knows of the plan is as old as the session, or gone.
  let restore = false
  on('session_start', async (_, { sessionManager }) => {
    restore = sessionManager.getBranch().some(entry => record(entry)['type'] === 'message')
  })
  on('before_agent_start', async (_, context, session) => {
    if (!restore) return undefined
    restore = false
    const { plan } = await talkIn(context).recall(session)
    return plan === '' ? undefined : { message: message(plan) }
  })
  on('session_compact', async (_, context, session) => {
    const { plan } = await talkIn(context).recall(session)
    if (plan !== '') pi.sendMessage(message(plan), { triggerTurn: false })
  })
}

function message(content: string): Message {
  return { customType: 'punchlist', content, display: true }
}
