import type { Complaint, FileForm } from '../../core/kind.ts'
import { tidy } from '../../core/markdown.ts'
import { isDevice, isSession, isWorkflow } from '../../core/session.ts'
import { keyLine, whole } from '../../core/yaml/writing.ts'
import { isWorker, SUMMARY, storeId } from '../names.ts'
import { type Extra, FRONTMATTER } from '../record.ts'
import { documentOf } from './document.ts'
import { edited } from './edit.ts'
import { linesIn } from './foreign.ts'
import { remarksIn } from './remarks.ts'
import { storable } from './values.ts'

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
    if (!isWorker(worker)) return misnamed(worker)
    const document = documentOf(text)
    if ('message' in document) return document
    const { values, body, foreign, named, odd } = document
    const isAnother = document.worker !== null && document.worker !== worker
    const lines = [...(isAnother ? named : []), ...odd, ...foreign]
    const { workflow, session } = list
    const fields = {
      title: worker,
      owner: null,
      identity: storeId(list, worker),
      workflow,
      session,
      worker,
      file: name,
      ...values,
      extra: lines.length > 0 ? { lines } : null,
    }
    return { fields, texts: { body }, history: [] }
  },
  write({ fields, texts }) {
    const body = tidy(whole(texts['body'] ?? ''))
    const { own, others } = linesIn(fields['extra'] as Extra | null | undefined)
    const lines = FRONTMATTER.map(key => {
      // What somebody wrote stands for what it was taken for, as long as that is so.
      const theirs = key === 'status' && fields['status'] !== 'unknown' ? undefined : own.get(key)
      return theirs ?? keyLine(key, storable(fields, key))
    })
    return `${whole(`---\n${[...lines, ...others].join('\n')}\n---`)}\n${body === '' ? '' : `\n${body}\n`}`
  },
  edit: edited,
  remarks: (text, name) => remarksIn(text, name.slice(0, -'.md'.length)),
}

function misnamed(worker: string): Complaint {
  if (worker.startsWith('_')) return { line: 1, message: 'has a name that is reserved: no worker begins with _' }
  if (isDevice(worker)) return { line: 1, message: 'has a name that is a device on Windows: no worker can have it' }
  return { line: 1, message: 'has a name that no worker can have: use letters, digits, - and _, 100 at most' }
}
