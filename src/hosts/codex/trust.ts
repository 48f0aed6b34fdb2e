import { join } from 'node:path'
import { readNamed } from '../../core/files.ts'
import { isOurHook } from '../install/command.ts'
import type { Hindrance, Where } from '../install/host.ts'
import { programOutside } from '../install/path.ts'
import { readToml } from '../install/toml.ts'
import { list, record, text } from '../reading.ts'
import { hooksAsListed } from './asking.ts'

/** Codex passes over hooks that its user has not accepted, and says nothing. It is asked; else its settings tell. */
export async function trustOf(where: Where): Promise<readonly Hindrance[]> {
  const { env, home, root } = where
  const settings = settingsOf(where)
  if (settings.get('features.hooks') === false) {
    return [
      { detail: 'features.hooks is false in config.toml: no hook is run', hint: 'Run: codex features enable hooks' },
    ]
  }
  const program = programOutside('codex', where)
  const listed = program === undefined ? undefined : await hooksAsListed(program, root, { ...env, HOME: home })
  if (listed === undefined) return untold(settings)
  const ours = list(record(listed)['hooks'])
    .map(record)
    .filter(hook => isOurHook(hook['command'], 'codex'))
  if (ours.length === 0) return [where.level === 'project' ? UNTRUSTED_PROJECT : UNSEEN]
  const waiting = ours.filter(hook => !ACCEPTED.has(text(hook['trustStatus']) ?? '') || hook['enabled'] === false)
  return waiting.length === 0 ? [] : [notAccepted(waiting.length, ours.length)]
}

const ACCEPTED = new Set(['trusted', 'managed'])

const UNTRUSTED_PROJECT: Hindrance = {
  detail: 'Codex does not take the hooks from this folder: the project is not trusted',
  hint: 'Start codex in this folder, say that you trust it, then accept the hooks with /hooks.',
}

const UNSEEN: Hindrance = {
  detail: 'Codex does not see the hooks',
  hint: 'Start codex, and look at /hooks; then run punchlist doctor again.',
}

function notAccepted(waiting: number, all: number): Hindrance {
  return {
    detail: `${waiting} of ${all} hooks are not accepted, and passed over in silence`,
    hint: 'Start codex in this folder, and accept them with /hooks.',
  }
}

/** Without the program, what it has written down of hooks in files called hooks.json. */
function untold(settings: ReadonlyMap<string, unknown>): Hindrance[] {
  const known = [...settings.keys()].some(key => key.startsWith('hooks.state.') && key.endsWith('.trusted_hash'))
  if (known) return []
  return [{ detail: 'whether Codex has accepted the hooks cannot be told: it did not answer', hint: '' }]
}

export function hasPlugin(at: Omit<Where, 'level'>): boolean {
  return [...settingsOf(at)].some(([key, value]) => /^plugins\.punchlist@[^.]*\.enabled$/.test(key) && value === true)
}

const LARGEST = 16 * 1024 * 1024

function settingsOf({ env, home }: Omit<Where, 'level'>): Map<string, unknown> {
  try {
    const file = join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml')
    const found = readToml(readNamed(file, LARGEST).toString('utf8'))
    return new Map(found.filter(({ kind }) => kind === 'key').map(({ path, value }) => [path.join('.'), value]))
  } catch {
    return new Map()
  }
}
