import type { Host } from '../event.ts'

// PLACEHOLDER: its owner replaces this file.
export const claudeCode: Host = {
  name: 'claude-code',
  read: () => undefined,
  write: () => ({}),
}
