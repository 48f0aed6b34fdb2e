import type { Host } from '../event.ts'

// PLACEHOLDER: its owner replaces this file.
export const pi: Host = {
  name: 'pi',
  read: () => undefined,
  write: () => ({}),
}
