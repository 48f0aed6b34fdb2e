/** A part of a text without the space around it. Most often that is one blank or none: to cut twice makes two strings. */
export function wordsIn(text: string, from: number, end: number): string {
  const start = text.charCodeAt(from) === 32 ? from + 1 : from
  const words = text.slice(start, end)
  return isPlain(text.charCodeAt(start)) && isPlain(text.charCodeAt(end - 1)) ? words : words.trim()
}

/** Whether a character is surely no space. */
export function isPlain(code: number): boolean {
  return code > 32 && code < 127
}
