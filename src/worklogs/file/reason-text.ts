import { tidy, trimmed } from '../../core/markdown.ts'
import type { Blocks } from './blocks.ts'

/** The text below a heading without the comments in it; what stands in a fence where there is nothing else. */
export function reasonIn(text: string, from: number, to: number, passed: Blocks['passed']): string {
  const { start, end } = trimmed(text, from, to)
  const [only] = passed
  if (passed.length === 1 && only!.fenced && only!.start === start && only!.end >= end && isFence(text, start)) {
    const first = text.indexOf('\n', start) + 1
    return text.slice(first, Math.max(first, text.lastIndexOf('\n', only!.end - 1)))
  }
  let reason = ''
  let at = start
  for (const part of passed) {
    if (part.fenced) continue
    reason += text.slice(at, part.start)
    at = part.end
  }
  return tidy(reason + text.slice(Math.min(at, end), end))
}

function isFence(text: string, start: number): boolean {
  return /^ {0,3}[`~]/.test(text.slice(start, start + 4))
}
