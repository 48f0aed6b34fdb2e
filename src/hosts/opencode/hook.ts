import type { Host } from '../event.ts'

// PLACEHOLDER: its owner replaces this file.
export const opencode: Host = {
  name: 'opencode',
  read: () => undefined,
  write: () => ({}),
}
