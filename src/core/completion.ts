/** How a completion is believed: on the worker's word, on evidence it names, or on a check we run. */
export const COMPLETION_MODES = ['self', 'evidence', 'verified'] as const
export type CompletionMode = (typeof COMPLETION_MODES)[number]
