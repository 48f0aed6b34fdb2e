const LOADED = Symbol.for('punchlist.opencode')

/**
 * Of several plugins of ours for one folder only the one that was loaded last
 * acts: there may be the user's and the project's, and those that OpenCode has
 * put away. Copies of this module share nothing but the process.
 */
export function newest(directory: string): () => boolean {
  const shared = globalThis as { [LOADED]?: Map<string, object> }
  const loaded = (shared[LOADED] ??= new Map())
  const me = {}
  loaded.set(directory, me)
  return () => loaded.get(directory) === me
}

type Hook = (...given: never[]) => Promise<void>

/** The same hooks, which do nothing once there is a newer plugin. */
export function whileNewest<T extends Readonly<Record<keyof T, Hook>>>(hooks: T, isNewest: () => boolean): T {
  const guarded = Object.entries<Hook>(hooks).map(([name, hook]) => [
    name,
    async (...given: never[]) => (isNewest() || name === 'dispose' ? await hook(...given) : undefined),
  ])
  return Object.fromEntries(guarded) as T
}
