import type { Complaint, Content, FileForm } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { oneLine, tidy } from '../../core/markdown.ts'
import { isSession, isWorkflow } from '../../core/session.ts'
import { keyLine, whole } from '../../core/yaml/writing.ts'
import { digits, identityOf, isSource } from '../names.ts'
import { type Extra, TODO_STATUSES } from '../record.ts'
import { type Document, documentOf } from './document.ts'
import { edited } from './edit.ts'
import { HISTORY, row, TABLE_HEAD } from './history.ts'
import { Later, quickly } from './quick.ts'
import { storable } from './storable.ts'
import { KEYS, type Values } from './values.ts'

/** A todo as a markdown file. */
export const todoFile: FileForm = {
  folders: ['{workflow}', '{session}', 'todos', '{source}'],
  name: 'file',
  history: true,
  admits(field, value) {
    if (field === 'workflow') return isWorkflow(value)
    return field === 'session' ? isSession(value) : isSource(value)
  },
  isItem: name => isNumbered(name) || /^(?:\d{3,}(?:-.*)?|task-\d.*)\.[mM][dD]$/.test(name),
  read(text, name, list) {
    const quick = quickly(text)
    if (!quick) return carefully(text, name, list)
    const { fields } = quick
    fields['identity'] = identityOf(list, fields.finding_id as string | null, fields.source_ref as string | null)
    fields['workflow'] = list['workflow']
    fields['session'] = list['session']
    fields['file'] = name
    fields.source = list['source'] ?? null
    return new Later(quick, () => carefully(text, name, list) as Content)
  },
  write(content) {
    const { fields, texts, history } = content
    const extra = fields['extra'] as Extra | null | undefined
    const body = tidy(texts['body'] ?? '')
    const lines = [...KEYS.map(key => keyLine(key, storable(fields, key))), ...(extra?.lines ?? [])]
    const parts = [
      `---\n${lines.join('\n')}\n---`,
      `# ${oneLine(String(fields['title'])) || 'Untitled'}`,
      ...(body === '' ? [] : [body]),
      `## ${HISTORY}`,
      [TABLE_HEAD, ...history.map(row)].join('\n'),
      ...(extra?.tail ? [extra.tail] : []),
    ]
    return `${whole(parts.join('\n\n'))}\n`
  },
  edit: edited,
}

/** Names as we give them, looked at without a pattern: one is slow until it is compiled, and a list may have thousands. */
function isNumbered(name: string): boolean {
  return (
    isDigit(name, 0) &&
    isDigit(name, 1) &&
    isDigit(name, 2) &&
    name[3] === '-' &&
    name.endsWith('.md') &&
    !name.includes('\n')
  )
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

/** Reads a file whoever wrote it. */
export function carefully(text: string, name: string, list: List): Content | Complaint {
  const document = documentOf(text)
  if ('message' in document) return document
  const { values, layout, body } = document
  const number = values.issue_id ?? numberIn(name)
  if (number === undefined) return { line: 1, message: 'issue_id is missing, and the name of the file has no number' }
  const title = oneLine(layout.title ?? document.title ?? '') || titleIn(name)
  const fields = fieldsOf(values, title, number, extraOf(document), name, list)
  return { fields, texts: { body }, history: layout.table?.rows ?? [] }
}

type List = Readonly<Record<string, string>>

function fieldsOf(
  values: Values,
  title: string,
  issue_id: Values['issue_id'],
  extra: Extra | null,
  file: string,
  list: List,
): Fields {
  const { workflow, session, source } = list
  const identity = identityOf(list, values.finding_id as string | null, values.source_ref as string | null)
  return { title, owner: values.assigned_to, identity, workflow, session, file, ...values, source, issue_id, extra }
}

function extraOf({ foreign, layout: { tail } }: Document): Extra | null {
  if (foreign.length === 0 && tail === '') return null
  return { ...(foreign.length > 0 ? { lines: foreign } : {}), ...(tail === '' ? {} : { tail }) }
}

function numberIn(name: string): string | undefined {
  const number = /^(?:task-)?(\d{1,15})(?!\d)/.exec(name)?.[1]
  return number === undefined ? undefined : digits(Number(number))
}

const NAME = new RegExp(`^(?:task-)?\\d+-(?:(?:${TODO_STATUSES.join('|')})-)?(?:p[1-3]-)?(.+)\\.md$`, 'i')

/** The title that a file's name tells of. */
function titleIn(name: string): string {
  const words = NAME.exec(name)?.[1]?.replaceAll('-', ' ').trim()
  return words || name.replace(/\.md$/i, '')
}
