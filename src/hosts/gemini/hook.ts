import type { Host } from '../event.ts'

// PLACEHOLDER: its owner replaces this file.
export const gemini: Host = {
  name: 'gemini',
  read: () => undefined,
  write: () => ({}),
}
