import type { Complaint, Content, FileForm } from '../core/kind.ts'
import { tidy } from './body.ts'
import { type Document, documentOf } from './document.ts'
import { edited } from './edit.ts'
import { HISTORY, row, TABLE_HEAD } from './history.ts'
import { oneLine } from './markdown.ts'
import { digits, identityOf, isSession, isSource, isWorkflow } from './names.ts'
import { type Extra, TODO_STATUSES } from './record.ts'
import { KEYS } from './values.ts'
import { keyLine, storable, whole } from './writing.ts'

/** A todo as a markdown file. */
export const todoFile: FileForm = {
  folders: ['{workflow}', '{session}', 'todos', '{source}'],
  name: 'file',
  admits(field, value) {
    if (field === 'workflow') return isWorkflow(value)
    return field === 'session' ? isSession(value) : isSource(value)
  },
  isItem: name => /^(?:\d{3,}(?:-.*)?|task-\d.*)\.[mM][dD]$/.test(name),
  read(text, name, list) {
    const document = documentOf(text)
    return 'message' in document ? document : contentOf(document, name, list)
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

function contentOf(document: Document, name: string, list: Readonly<Record<string, string>>): Content | Complaint {
  const { values, layout, body } = document
  const issue_id = values.issue_id ?? numberIn(name)
  if (issue_id === undefined) return { line: 1, message: 'issue_id is missing, and the name of the file has no number' }
  const { workflow, session, source } = list
  const extra: Extra | null = extraOf(document)
  return {
    fields: {
      title: oneLine(layout.title ?? document.title ?? '') || titleIn(name),
      owner: values.assigned_to,
      identity: identityOf(list, values.finding_id as string | null, values.source_ref as string | null),
      workflow,
      session,
      file: name,
      ...values,
      source,
      issue_id,
      extra,
    },
    texts: { body },
    history: layout.table?.rows ?? [],
  }
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
