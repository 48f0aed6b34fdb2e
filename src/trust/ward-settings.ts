import { Problem } from '../core/problem.ts'
import type { Ward } from '../core/wards.ts'
import { words } from '../core/words.ts'

type WardSetting = string | { readonly run: string; readonly env?: readonly string[] | undefined }

const MOST_VARIABLES = 50

/** The commands that must exit 0, word by word: they are run without a shell. Throws `bad_input` for one that is none. */
export function wardsIn(settings: readonly WardSetting[], file: string): readonly Ward[] {
  return settings.map((setting, index) => {
    const { run, env = [] } = typeof setting === 'string' ? { run: setting } : setting
    const wrong = (key: string, message: string) =>
      new Problem('bad_input', `${file}: ${key} ${message}`, `Correct ${key} in ${file}.`, {
        file,
        wrong: [{ key, message }],
      })
    const key = typeof setting === 'string' ? `wards.${index}` : `wards.${index}.run`
    const command = words(run)
    if (!command) throw wrong(key, 'has a quote that is never closed')
    if (!command[0]) throw wrong(key, 'is empty')
    const strange = env.findIndex(name => !/^[A-Za-z_]\w{0,127}$/.test(name))
    if (strange >= 0) throw wrong(`wards.${index}.env.${strange}`, 'is not the name of a variable')
    if (env.length > MOST_VARIABLES) throw wrong(`wards.${index}.env`, `has more than ${MOST_VARIABLES} names`)
    return { command, env }
  })
}
