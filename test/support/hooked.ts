import { punchlist, type Ran } from './cli.ts'

/** A host's session, played by hand: each event is one call of the real program, as the host would make it. */
export class Hooked {
  readonly cwd: string
  readonly session: string
  private readonly env: Readonly<Record<string, string>>

  constructor(cwd: string, session: string, env: Readonly<Record<string, string>> = {}) {
    this.cwd = cwd
    this.session = session
    this.env = env
  }

  /** What the hook says, in the form of Claude Code; empty where it says nothing. */
  async tell(event: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { status, stdout, stderr } = await this.raw({ hook_event_name: event, ...fields })
    if (status !== 0 || stderr !== '') throw new Error(`${event}: exit ${status}\n${stderr}`)
    if (stdout === '') return ''
    const { hookSpecificOutput } = JSON.parse(stdout) as {
      hookSpecificOutput: { hookEventName: string; additionalContext: string }
    }
    if (hookSpecificOutput.hookEventName !== event) throw new Error(`an answer to another event: ${stdout}`)
    return hookSpecificOutput.additionalContext
  }

  async raw(fields: Readonly<Record<string, unknown>>): Promise<Ran> {
    const payload = { session_id: this.session, cwd: this.cwd, transcript_path: '/nowhere', ...fields }
    return await this.send(JSON.stringify(payload))
  }

  async send(input: string, host = 'claude-code'): Promise<Ran> {
    return await punchlist(['hook', host], { cwd: this.cwd, input, env: this.env })
  }

  /** A command that is given in this session. */
  get here(): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } {
    return { cwd: this.cwd, env: { ...this.env, PUNCHLIST_CONVERSATION: this.session } }
  }
}
