import { isDevice } from '../core/session.ts'

/** Names of workers become names of files; those that begin with `_` are kept for files of our own. */
const WORKER = /^[A-Za-z0-9-][A-Za-z0-9_-]{0,99}$/

/** The file that holds a session's summary, beside those of its workers. */
export const SUMMARY = '_summary.md'

export function isWorker(name: string): boolean {
  return WORKER.test(name) && !isDevice(name)
}

export function fileOf(worker: string): string {
  return `${worker}.md`
}

/** A worklog's id in the store: its worker's name among those of all sessions. */
export function storeId(list: Readonly<Record<string, unknown>>, worker: string): string {
  return `${String(list['workflow'])}/${String(list['session'])}/${worker}`
}

/** The folder of a session's worker files, below the folder of them all. */
export function folderOf({ workflow, session }: { readonly workflow: string; readonly session: string }): string {
  return `${workflow}/${session}/todos`
}
