import { createRequire } from 'node:module'

interface Token {
  readonly type: string
  readonly raw: string
  readonly text?: string
  readonly depth?: number
  readonly items?: readonly Token[]
  readonly header?: readonly { readonly tokens: readonly Token[] }[]
  readonly rows?: readonly (readonly { readonly tokens: readonly Token[] }[])[]
}

interface Marked {
  lexer(text: string): Token[]
  parse(text: string): string
  walkTokens(tokens: readonly Token[], visit: (token: Token) => void): void
}

// A parser of GitHub's markdown that knows nothing of ours; it comes with a tool that checks our types.
const tool = createRequire(createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json'))
const { marked } = tool('marked') as { marked: Marked }

/** The blocks of a document, blank space left out. */
export function blocks(text: string): Token[] {
  return marked.lexer(text).filter(({ type }) => type !== 'space')
}

/** Everything that is something else than text, wherever it stands. */
export function lively(tokens: readonly Token[]): string[] {
  const found: string[] = []
  marked.walkTokens(tokens, ({ type }) => {
    if (type !== 'text' && type !== 'escape') found.push(type)
  })
  return found
}

/** The rows of the first table, as lists of what stands in their cells. */
export function rows(text: string): (readonly Token[])[][] {
  const table = blocks(text).find(({ type }) => type === 'table')
  return (table?.rows ?? []).map(row => row.map(({ tokens }) => tokens))
}

/** What a reader sees. */
export function seen(text: string): string {
  const html = marked.parse(text).replace(/<[^>]*>/g, '')
  return html
    .replace(/&(?:lt|gt|quot|#39|#x27);/g, entity => SIGNS[entity]!)
    .replaceAll('&amp;', '&')
    .replaceAll('\n', '')
}

const SIGNS: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
}
