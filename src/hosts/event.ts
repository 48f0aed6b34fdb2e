import type { Standing } from '../continuation/judging.ts'

/** An item of the list that a host keeps itself. */
export interface HostTask {
  /** What the host calls it, the same in every event; its text where it has no other name. */
  readonly key: string
  /** Empty where the event does not tell it. */
  readonly title: string
  readonly context?: string | undefined
  readonly status: 'pending' | 'in_progress' | 'completed' | 'cancelled'
}

/** What a host tells, in words that are the same for all of them. */
export type HostEvent =
  /** A session begins, goes on after a pause, or goes on with its context cut. */
  | { readonly type: 'started'; readonly how: 'new' | 'resumed' | 'cut' }
  /** The user said something; `turn` is what the host calls this turn. */
  | { readonly type: 'spoke'; readonly text: string; readonly turn?: string | undefined }
  /** The agent wants to stop. */
  | {
      readonly type: 'stopping'
      /** The subagent that does, where it is not the session itself. */
      readonly subagent?: string | undefined
      readonly agent?: string | undefined
      readonly background?: number
      readonly planning?: boolean
      readonly asked?: boolean
      readonly mayWrite?: boolean
    }
  /** The host's own list changed. `whole`: these are all there are. `asking`: whether it may be so. */
  | {
      readonly type: 'listed'
      readonly tasks: readonly HostTask[]
      readonly whole: boolean
      readonly asking?: boolean
    }
  /** The context is about to be cut. */
  | { readonly type: 'cutting' }
  /** The agent's run ended with an error, or because somebody ended it. */
  | { readonly type: 'failed'; readonly aborted: boolean }
  | { readonly type: 'ended' }
  /** From plugins of ours that live in the host: what is known, and what is to be remembered. */
  | { readonly type: 'recall' }
  | { readonly type: 'remember'; readonly standing: Standing }

/** One call of a hook: which session, where, and what happened. */
export interface Told {
  readonly session: string
  /** The folder that the host works in; the process's own where absent. */
  readonly cwd?: string | undefined
  readonly event: HostEvent
}

/** What we have to say to it. */
export type Reply =
  | { readonly type: 'nothing' }
  /** Do not stop: go on with this. */
  | { readonly type: 'go_on'; readonly text: string }
  /** Something the model should know. */
  | { readonly type: 'context'; readonly text: string }
  /** No: this cannot be so. */
  | { readonly type: 'refuse'; readonly text: string }
  /** For plugins of ours. */
  | { readonly type: 'answer'; readonly value: unknown }

export const NOTHING: Reply = { type: 'nothing' }

/** Whether it is about a list that is there. A host that is wired for every folder leaves no trace where nobody keeps one. */
export function needsList({ type }: HostEvent): boolean {
  return type !== 'listed' && type !== 'recall'
}

/** What a hook leaves behind: the form that the host understands. */
export interface Answer {
  readonly stdout?: string
  readonly stderr?: string
  readonly exit?: number
}

/** A program that agents run in, as far as its hooks go. Pure: what it says in, what we say out. */
export interface Host {
  readonly name: string
  /** What people call it; the name where absent. */
  readonly title?: string
  /** The variable of the environment that names its project: the agent itself may have gone elsewhere. */
  readonly folderFrom?: string
  /** Whether the servers that it starts are given nothing of its environment: a conversation that is named there is not theirs. */
  readonly sheds?: boolean
  /** Whether nothing tells of its context having been cut, or of its resumption: then the plan is told with each prompt. */
  readonly retells?: boolean
  /** Whether it starts servers without telling them which session they are for. */
  readonly announces?: boolean
  /** Undefined for events that are none of our business, and for whatever cannot be understood. */
  read(payload: Readonly<Record<string, unknown>>): Told | undefined
  write(reply: Reply, payload: Readonly<Record<string, unknown>>): Answer
}
