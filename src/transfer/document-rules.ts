import type { Content, FieldType, FileForm, Kind } from '../core/kind.ts'
import type { Fields } from '../core/lifecycle.ts'
import { Problem } from '../core/problem.ts'
import type { Kept } from '../core/store.ts'
import { VALUES } from './values.ts'

const COMMON = { title: 'text', status: 'text', owner: 'text', identity: 'text' } as const
/** In bytes, on the file systems that are common. */
const LONGEST_NAME = 255
const LONGEST_ID = 500
const LONGEST_SHOWN = 100

/** Throws `bad_input` for an item that its kind does not have, before any of it becomes a column or the name of a file. */
export function refuseStrange(kind: Kind, item: Kept): void {
  const strange = strangeFields(kind, item)
  // Files are written and read again to compare them, which takes fields of the right types.
  const wrong = [...new Set(strange.length > 0 ? strange : strangeNames(kind, item))]
  if (wrong.length === 0) return
  throw new Problem(
    'bad_input',
    `${kind.name} ${item.id.slice(0, LONGEST_SHOWN)}: ${wrong.slice(0, 10).join(', ').slice(0, 500)} cannot be taken in`,
    'Import a document that punchlist export made; nothing was written.',
    { id: item.id.slice(0, LONGEST_ID), wrong: wrong.slice(0, 10) },
  )
}

/** The values that name the list of an item. */
export function listOf(kind: Kind, fields: Fields): Record<string, string> {
  return Object.fromEntries(kind.list.map(field => [field, String(fields[field])]))
}

function strangeFields(kind: Kind, { fields }: Kept): string[] {
  const types: Readonly<Record<string, FieldType>> = { ...COMMON, ...kind.fields }
  const wrong = Object.keys(fields).filter(name => !Object.hasOwn(types, name))
  wrong.push(...Object.keys(types).filter(name => !fits(types[name]!, fields[name])))
  const admitted = VALUES[kind.name] ?? {}
  wrong.push(...Object.keys(admitted).filter(name => !admitted[name]!(fields[name])))
  if (typeof fields['title'] !== 'string') wrong.push('title')
  const { status } = fields
  if (typeof status !== 'string' || !Object.hasOwn(kind.lifecycle.statuses, status)) wrong.push('status')
  return wrong
}

/** What of an item would name it, or a file of its, and cannot. */
function strangeNames(kind: Kind, { id, fields, texts, history }: Kept): string[] {
  if (id === '' || id.length > LONGEST_ID || /[\p{Cc}\u2028\u2029]/u.test(id)) return ['id']
  if (kind.file) return strangeFile(kind, kind.file, { id, fields, texts, history })
  return kind.directory ? strangeDirectory(kind.directory, { id, fields, texts }) : []
}

function strangeFile(kind: Kind, form: FileForm, { id, fields, texts, history }: Omit<Kept, 'token'>): string[] {
  const list = listOf(kind, fields)
  const wrong = kind.list.filter(field => !form.admits(field, list[field]!))
  const name = String(fields[form.name])
  const isName = form.isItem(name) && !/[/\\]/.test(name) && Buffer.byteLength(name) <= LONGEST_NAME
  if (!isName) return [...wrong, form.name]
  if (kind.idOf && kind.idOf(fields) !== id) return [...wrong, 'id']
  return wrong.length > 0 ? wrong : unlike(form, { fields, texts, history }, name, list)
}

/** What a file of these fields would say otherwise: who an item is must not depend on where it is kept. */
function unlike(form: FileForm, content: Content, name: string, list: Record<string, string>): string[] {
  const read = form.read(form.write(content), name, list)
  if ('message' in read) return ['fields']
  return (read.fields['identity'] ?? null) === (content.fields['identity'] ?? null) ? [] : ['identity']
}

function strangeDirectory(
  form: NonNullable<Kind['directory']>,
  { id, fields, texts }: Pick<Kept, 'id' | 'fields' | 'texts'>,
): string[] {
  const name = form.name({ ...fields, id })
  const named = form.named(name)
  if ('message' in named || named.id !== id || Buffer.byteLength(name) > LONGEST_NAME) return ['id']
  const wrong = Object.keys(named.fields).filter(field => named.fields[field] !== fields[field])
  const definition = texts[form.definition]
  if (definition === undefined || 'message' in form.read(definition, name)) wrong.push(form.definition)
  return [...wrong, ...Object.keys(texts).filter(file => !isFileName(file))]
}

/** Whether a text's name can be that of a file in a directory, or below it. */
function isFileName(name: string): boolean {
  const parts = name.split('/')
  return parts.every(
    part =>
      part !== '' && part !== '.' && part !== '..' && !part.includes('\\') && Buffer.byteLength(part) <= LONGEST_NAME,
  )
}

/** Whether every engine can keep a value: one of them has integers of 32 bits. */
function fits(type: FieldType, value: unknown): boolean {
  if (value === null || value === undefined || type === 'json') return true
  if (type === 'integer') return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31
  return typeof value === 'string'
}
