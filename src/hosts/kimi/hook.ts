import type { Host } from '../event.ts'

// PLACEHOLDER: its owner replaces this file.
export const kimi: Host = {
  name: 'kimi',
  read: () => undefined,
  write: () => ({}),
}
