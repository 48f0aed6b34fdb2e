// PLACEHOLDER: its owner replaces this file.
export function hostFrom(
  _env: Readonly<Record<string, string | undefined>>,
  _payload: Readonly<Record<string, unknown>>,
): string {
  return 'claude-code'
}
