import { type AgentOptions, runAgent } from '../agent/agent.ts'
import { endpointOf } from '../agent/endpoint.ts'
import type { CompletionMode } from '../core/completion.ts'
import { newId } from '../core/id.ts'
import { checked } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { words } from '../core/words.ts'
import { punchlistFor } from '../library.ts'
import { StoreDoor } from '../open.ts'
import { acceptSet } from '../plans/checks.ts'
import { turnTodo } from '../plans/operations.ts'
import { TOOL_SETS, type ToolSetName } from '../tools.ts'
import { findWorkspace } from '../workspace.ts'
import { AgentTold } from './agent-told.ts'
import type { GlobalFlags } from './arguments.ts'
import type { Surroundings } from './main.ts'
import { askingFrom, callerFor } from './scope.ts'
import { Stop } from './stopping.ts'

/** As the command's schema leaves them. */
interface Fields {
  readonly prompt?: readonly string[]
  readonly model?: string
  readonly system?: string
  readonly write?: boolean
  readonly allow?: readonly string[]
  readonly tools?: string
  readonly maxCalls?: number
  readonly completion?: CompletionMode
  readonly check?: string
  readonly timeout?: string
  readonly quiet?: boolean
}

/** `punchlist agent`: one message to an agent of our own, and its answer. */
export async function agent(fields: Fields, globals: GlobalFlags, around: Surroundings): Promise<number> {
  const { env, cwd, terminal } = around
  const endpoint = endpointOf(fields.model ?? env['PUNCHLIST_MODEL'], env)
  const check = checkOf(fields)
  const sets = setsOf(fields.tools ?? 'plan')
  const asking = askingFrom(globals, env, cwd)
  const prompt = await promptOf(fields, around)
  const system = fields.system === undefined ? undefined : await terminal.read(fields.system)
  const workspace = await findWorkspace(asking.wish)
  // A session of the host that we may have been started in is the host's own: its plan is not ours.
  const named = ['conversation', 'session'].some(
    name => globals[name as 'session'] ?? env[`PUNCHLIST_${name.toUpperCase()}`],
  )
  const conversationId = named ? asking.scope.conversationId : newId()
  const turnId = asking.scope.turnId ?? newId()
  const told = new AgentTold({
    terminal,
    endpoint,
    conversationId,
    turnId,
    isNew: !named,
    json: globals.json === true,
    quiet: fields.quiet === true,
  })
  const door = new StoreDoor(workspace)
  const stop = new Stop(fields.timeout)
  try {
    // Makes the seal that the lines of the conversation carry.
    await door.store(true)
    // The model's caller accepts nothing; the person who typed the check does.
    await acceptSet(callerFor(asking, workspace, door, true), [check])
    const list = punchlistFor(callerFor(asking, workspace, door, true, 'model'))
    const options: AgentOptions = {
      list,
      endpoint,
      conversationId,
      turnId,
      prompt,
      folder: cwd,
      root: workspace.root,
      sets,
      system,
      write: fields.write === true,
      allowed: fields.allow ?? [],
      maxCalls: fields.maxCalls,
      completion: fields.completion,
      check,
      name: (globals.actor ?? env['PUNCHLIST_ACTOR']) ? asking.by : 'agent',
      signal: stop.signal,
      onEvent: event => told.hear(event),
      remark: text => told.remark(text),
    }
    told.begin()
    return told.end(await runAgent(options))
  } catch (error) {
    return told.fail(error, stop)
  } finally {
    stop.over()
    told.over()
    await door.close()
  }
}

async function promptOf({ prompt = [], system }: Fields, { terminal }: Surroundings): Promise<string> {
  const fromInput = prompt.length === 1 && prompt[0] === '-'
  if (fromInput && system === '-') {
    throw new Problem(
      'bad_input',
      'Standard input cannot be both the prompt and --system',
      'Name a file with --system.',
    )
  }
  const text = fromInput ? await terminal.read('-') : prompt.join(' ')
  if (text.trim() === '')
    throw new Problem('bad_input', 'It is not said what to do', 'Say it: punchlist agent "…", or - for standard input.')
  if (text.length > 1_000_000)
    throw new Problem(
      'bad_input',
      'The prompt has more than 1000000 characters',
      'Put it into a file of the folder, and say which.',
    )
  return text
}

/** Refused before anything is kept, as the turn would refuse it. */
function checkOf({ completion, check }: Fields): readonly string[] | undefined {
  checked(turnTodo.input(), { check })
  if (check === undefined && completion === 'verified') {
    const hint = 'Give --check COMMAND. A plan that has a check keeps it, without --completion.'
    throw new Problem('bad_input', 'Nothing can be completed with --completion verified and no check', hint)
  }
  if (check === undefined) return undefined
  if (completion === undefined || completion === 'verified') return words(check)
  const hint = 'Leave --completion out, or give --completion verified.'
  throw new Problem('bad_input', `--check is not run with --completion ${completion}`, hint)
}

function setsOf(names: string): ToolSetName[] {
  const sets = names.split(',').map(name => name.trim())
  const wrong = sets.filter(name => !TOOL_SETS.some(one => one === name))
  if (wrong.length === 0) return sets as ToolSetName[]
  const spoken = wrong.map(name => `"${name.slice(0, 40)}"`).join(', ')
  throw new Problem('bad_input', `There is no tool set ${spoken}`, `Use one or more of: ${TOOL_SETS.join(', ')}.`, {
    wrong,
  })
}
