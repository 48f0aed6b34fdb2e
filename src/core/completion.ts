/** How a completion is believed: on the worker's word, on evidence it names, or on a check we run. */
export const COMPLETION_MODES = ['self', 'evidence', 'verified'] as const
export type CompletionMode = (typeof COMPLETION_MODES)[number]

export function isLooser(mode: CompletionMode, than: CompletionMode): boolean {
  return COMPLETION_MODES.indexOf(mode) < COMPLETION_MODES.indexOf(than)
}

export function stricter(one: CompletionMode, other: CompletionMode): CompletionMode {
  return isLooser(one, other) ? other : one
}
