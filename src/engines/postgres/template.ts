import type { Kind } from '../../core/kind.ts'
import type { Statement } from './bound.ts'
import type { Value } from './connection.ts'

/**
 * A statement whose text is made once for its shape, with where each of its
 * values comes from: making the text of a claim took longer than sending it.
 */
export class Template<I> {
  private readonly sources: ((input: I) => Value)[] = []
  private text = ''

  static of<I>(kind: Kind, shape: string, make: (template: Template<I>) => string): Template<I> {
    let known = templates.get(kind)
    if (!known) templates.set(kind, (known = new Map()))
    // A caller's odd limits are not kept for ever.
    if (known.size > 256) known.clear()
    let template = known.get(shape) as Template<I> | undefined
    if (!template) {
      template = new Template<I>()
      template.text = make(template)
      known.set(shape, template as Template<unknown>)
    }
    return template
  }

  add(source: (input: I) => Value): string {
    this.sources.push(source)
    return `$${this.sources.length}`
  }

  filled(input: I): Statement {
    return { sql: this.text, values: this.sources.map(source => source(input)) }
  }
}

const templates = new WeakMap<Kind, Map<string, Template<unknown>>>()
