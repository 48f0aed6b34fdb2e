/** What went wrong, in words. Whoever fails may throw anything. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error === 'string' ? error : 'no reason was given'
}
