import { parseAst } from 'rolldown/parseAst'

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

interface Insertion {
  readonly at: number
  readonly text: string
  readonly opens: boolean
}

/**
 * Rewrites a script so that V8 compiles its functions when it compiles the script, and Node's compile cache holds them:
 * a function is compiled at its first call in every process otherwise, which was a third of what a hook ran beyond
 * Node's own start. V8 takes a function in parentheses for one that is called at once. Function expressions get them
 * where they are; declarations become variables at the top of the script, which keeps them ahead of everything that
 * runs. Methods cannot have any and stay lazy. Names are kept, for the stack traces.
 */
export function compiledEagerly(code: string): string {
  const body = parseAst(code, { sourceType: 'script', lang: 'js' }).body as Node[]
  const insertions = body
    .flatMap(node => parentheses(node))
    .toSorted((a, b) => a.at - b.at || Number(a.opens) - Number(b.opens))
  const text = (from: number, to: number) => withInsertions(code, from, to, insertions)
  const declared = body.filter(({ type }) => type === 'FunctionDeclaration') as (Node & { id: { name: string } })[]
  const variables = declared.map(({ id, start, end }) => `var ${id.name}=(${text(start, end)});`)
  const directives = body.findLast(node => 'directive' in node && node.directive)?.end ?? 0
  const ends = [directives, ...declared.map(({ end }) => end)]
  const rest = ends.map((from, index) => text(from, declared[index]?.start ?? code.length))
  return [code.slice(0, directives), ...variables, ...rest].join('')
}

function parentheses(node: Node, isMethod = false): Insertion[] {
  const isExpression = node.type === 'ArrowFunctionExpression' || (node.type === 'FunctionExpression' && !isMethod)
  const around: Insertion[] = isExpression
    ? [
        { at: node.start, text: '(', opens: true },
        { at: node.end, text: ')', opens: false },
      ]
    : []
  const { method, kind } = node as { method?: boolean; kind?: string }
  const holdsMethod = node.type === 'MethodDefinition' || method === true || kind === 'get' || kind === 'set'
  const inner = Object.entries(node).flatMap(([key, value]) =>
    [value].flat().flatMap(child => (isNode(child) ? parentheses(child, holdsMethod && key === 'value') : [])),
  )
  return [...around, ...inner]
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** A piece of the code with what is inserted in it; what is inserted at its ends belongs to it where it opens there or closes there. */
function withInsertions(code: string, from: number, to: number, insertions: readonly Insertion[]): string {
  let text = ''
  let done = from
  for (const { at, text: inserted, opens } of insertions) {
    const within = (at > from || (at === from && opens)) && (at < to || (at === to && !opens))
    if (!within) continue
    text += code.slice(done, at) + inserted
    done = at
  }
  return text + code.slice(done, to)
}
