import { oneLine } from '../core/markdown.ts'
import { documentText } from './document.ts'
import { isoTime } from './times.ts'

export const VERIFIED = 'verified.md'

/** That commands of ours have found a task to be done. */
export interface Verified {
  readonly at: string
  /** Each as it was run. */
  readonly commands: readonly string[]
}

export function verifiedText({ at, commands }: Verified): string {
  const lines = commands.map(command => `- ${oneLine(command)}`)
  return `${documentText('Verified', { Timestamp: at })}${lines.length > 0 ? `\n${lines.join('\n')}\n` : ''}`
}

/** When that was; null where the text does not tell. */
export function verifiedAtIn(text: string): string | null {
  const [, time = ''] = /^\*\*Timestamp:\*\*[ \t]*(\S{1,40})/m.exec(text) ?? []
  return isoTime(time) ?? null
}
