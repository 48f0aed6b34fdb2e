/** What a scripted model does next: says something and ends its turn, or calls a tool by the last part of its name. */
export type Step = { readonly say: string } | { readonly call: string; readonly input: unknown }

/** What the model was sent with one request. */
export interface Asked {
  /** Counted from 1, over all requests that are the agent's own (not titles, not summaries). */
  readonly request: number
  /** The names of the tools on offer, as the host spells them. */
  readonly tools: readonly string[]
  /** The texts that are not the model's own, in order: what the user, the host and its hooks said. */
  readonly texts: readonly string[]
  /** What the tools answered, in order. */
  readonly results: readonly string[]
}

/** Decides by what the model has been sent; called once for each request. */
export type Script = (asked: Asked) => Step

/** A model on 127.0.0.1 that speaks one vendor's protocol and follows a script. */
export interface ModelServer {
  readonly url: string
  readonly asked: readonly Asked[]
  close(): Promise<void>
}
