import type { Complaint, FileForm } from '../../core/kind.ts'
import { damageIn, tidy, trimmed, unixLines } from '../../core/markdown.ts'
import { Problem } from '../../core/problem.ts'
import { isSession, isWorkflow } from '../../core/session.ts'
import { frontmatterOf } from '../../core/yaml/frontmatter.ts'
import { nodeOf } from '../../core/yaml/value.ts'
import { isWorker, SUMMARY } from '../names.ts'
import { FRONTMATTER, type FrontmatterKey, WORKLOG_STATUSES } from '../record.ts'

/** A worklog as a markdown file. */
export const worklogFile: FileForm = {
  folders: ['{workflow}', '{session}', 'todos'],
  name: 'file',
  history: false,
  beside: [SUMMARY],
  admits: (field, value) => (field === 'workflow' ? isWorkflow(value) : isSession(value)),
  isItem: name => /\.md$/i.test(name) && name.toLowerCase() !== SUMMARY && !name.startsWith('.'),
  read(text, name, list) {
    const worker = name.slice(0, -'.md'.length)
    if (!isWorker(worker)) return { line: 1, message: 'has a name that no worker can have' }
    const found = keysIn(text)
    if ('message' in found) return found
    const { values, after } = found
    const { start, end } = trimmed(text, after, text.length)
    const { workflow, session } = list
    const status = (WORKLOG_STATUSES as readonly unknown[]).includes(values.status) ? values.status : 'unknown'
    return {
      fields: {
        title: worker,
        owner: null,
        identity: `${workflow}/${session}/${worker}`,
        workflow,
        session,
        worker,
        file: name,
        role: values.role,
        plan_path: values.plan_path,
        status,
        extra: null,
      },
      texts: { body: unixLines(text.slice(start, end)) },
      history: [],
    }
  },
  write({ fields, texts }) {
    const lines = FRONTMATTER.map(key => `${key}: ${fields[key] === null ? 'null' : String(fields[key])}`)
    const body = tidy(texts['body'] ?? '')
    return `---\n${lines.join('\n')}\n---\n${body === '' ? '' : `\n${body}\n`}`
  },
  edit(text, { fields, texts }) {
    const found = keysIn(text)
    if ('message' in found) throw new Problem('unreadable_file', found.message, 'Correct it by hand.', {})
    const { after } = found
    let front = text.slice(0, after)
    for (const key of FRONTMATTER) {
      if (fields[key] !== undefined)
        front = front.replace(new RegExp(`^${key}:.*$`, 'm'), `${key}: ${String(fields[key])}`)
    }
    const body = texts?.['body']
    return body === undefined ? front + text.slice(after) : `${front}\n\n${tidy(body)}\n`
  },
}

type Values = Record<FrontmatterKey, string | null>

function keysIn(text: string): { values: Values; after: number } | Complaint {
  const damage = damageIn(text)
  if (damage) return damage
  const front = frontmatterOf(text, FRONTMATTER)
  if ('message' in front) return front
  const values: Values = { worker: null, role: null, status: null, plan_path: null }
  for (const entry of front.entries) {
    const key = FRONTMATTER.find(name => name === entry.key)
    if (!key) continue
    const node = nodeOf(entry)
    if ('message' in node) return node
    if (typeof node.value !== 'object') values[key] = node.value
  }
  return { values, after: front.after }
}
