import type * as v from 'valibot'
import { nearest } from './nearest.ts'
import { Problem } from './problem.ts'
import { harmlessLine } from './text.ts'

/** A field of an input that its schema does not have. */
export interface UnknownField {
  readonly field: string
  readonly message: string
  /** The known field that is probably meant. */
  readonly nearest?: string | undefined
}

/** Names every field that an input has and its schema has not, with the field that is probably meant. */
export function findUnknownFields(schema: v.GenericSchema, input: unknown, path = ''): UnknownField[] {
  const { type, entries, item, wrapped } = schema as Shape
  if (wrapped) return findUnknownFields(wrapped, input, path)
  if (item && Array.isArray(input)) {
    return input.flatMap((one, index) => findUnknownFields(item, one, `${path}${index}.`))
  }
  if (type !== 'object' || !entries || typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([name, value]) => {
    if (Object.hasOwn(entries, name)) return findUnknownFields(entries[name]!, value, `${path}${name}.`)
    return value === undefined ? [] : [unknownField(path, name, Object.keys(entries))]
  })
}

/** Refuses fields of a record that are not among the known ones. */
export function refuseUnknownFields(input: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const wrong = Object.keys(input).flatMap(name => (known.includes(name) ? [] : [unknownField('', name, known)]))
  if (wrong.length === 0) return
  const told = wrong.map(({ field, message }) => `${field}: ${message}`).join('; ')
  const names = wrong.map(({ field }) => field).join(', ')
  throw new Problem('bad_input', told, `Correct ${names} and send it again.`, { wrong })
}

/** What is read of a schema here. A piped schema has the shape of its first part. */
interface Shape {
  readonly type: string
  readonly entries?: Readonly<Record<string, v.GenericSchema>>
  readonly item?: v.GenericSchema
  readonly wrapped?: v.GenericSchema
}

function unknownField(path: string, name: string, known: readonly string[]): UnknownField {
  const close = nearest(name, known)
  const more = close ? `did you mean ${close}?` : `known: ${known.join(', ') || 'none'}`
  return { field: `${path}${harmlessLine(name.slice(0, 60))}`, message: `is no field here; ${more}`, nearest: close }
}
