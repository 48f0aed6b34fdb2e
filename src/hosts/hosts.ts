import type { Host } from './event.ts'

/** The hosts whose hooks are understood, loaded when first asked for: one call needs one. */
const HOSTS: Readonly<Record<string, () => Promise<Host>>> = {
  'claude-code': async () => (await import('./claude-code/hook.ts')).claudeCode,
  codex: async () => (await import('./codex/hook.ts')).codex,
  gemini: async () => (await import('./gemini/hook.ts')).gemini,
  qwen: async () => (await import('./qwen/hook.ts')).qwen,
  copilot: async () => (await import('./copilot/hook.ts')).copilot,
  kimi: async () => (await import('./kimi/hook.ts')).kimi,
  opencode: async () => (await import('./opencode/hook.ts')).opencode,
  pi: async () => (await import('./pi/hook.ts')).pi,
}

export const HOST_NAMES = Object.keys(HOSTS)

export async function hostNamed(name: string): Promise<Host | undefined> {
  return Object.hasOwn(HOSTS, name) ? await HOSTS[name]!() : undefined
}
