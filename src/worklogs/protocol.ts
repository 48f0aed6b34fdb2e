// PLACEHOLDER by the lead until the real one is here: replace all of it.
export function protocolText(_: {
  readonly worker: string
  readonly workflow: string
  readonly session: string
  readonly path: string
  readonly role?: string | undefined
  readonly plan?: string | undefined
  readonly via: 'any' | 'cli' | 'mcp' | 'files'
}): string {
  throw new Error('not yet')
}
