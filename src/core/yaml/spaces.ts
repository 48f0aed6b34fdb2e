/** Without spaces and tabs before and after. Others that JavaScript would trim, as a no-break space, are text in YAML. */
export function stripped(text: string): string {
  return strippedEnd(text.slice(indentOf(text)))
}

export function strippedEnd(text: string): string {
  let end = text.length
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

export function indentOf(text: string): number {
  let at = 0
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9
}
