/** Splits a command line into words: quotes group, a backslash escapes, nothing is expanded. Undefined when a quote is open. */
export function words(line: string): string[] | undefined {
  const found: string[] = []
  let word: string | undefined
  let quote = ''
  for (let i = 0; i < line.length; i++) {
    const character = line[i]!
    if (quote) {
      if (character === quote) quote = ''
      else if (character === '\\' && quote === '"' && i + 1 < line.length) word += line[++i]!
      else word += character
    } else if (character === '"' || character === "'") {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== undefined) found.push(word)
      word = undefined
    } else {
      word = (word ?? '') + (character === '\\' && i + 1 < line.length ? line[++i]! : character)
    }
  }
  if (quote) return undefined
  return word === undefined ? found : [...found, word]
}
