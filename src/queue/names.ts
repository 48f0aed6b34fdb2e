import { Problem } from '../core/problem.ts'

/** How many parts a task may have: two digits in a name. */
export const MOST_CHILDREN = 99

const ID = /^req_\d{4,15}(?:_\d{2})*$/
/** An id, and behind it the slug, which never begins with two digits alone. */
const DIRECTORY = /^(req_\d{4,15}(?:_\d{2})*)_([A-Za-z0-9][A-Za-z0-9_.-]*)$/
const SLUG = /^(?!\d{2}(?:_|$))[a-z0-9]+(?:_[a-z0-9]+)*$/
const LONGEST_SLUG = 60

export function isTaskId(id: string): boolean {
  return ID.test(id)
}

/** Whether this can be the slug of a new task. */
export function isSlug(slug: string): boolean {
  return SLUG.test(slug) && slug.length <= LONGEST_SLUG
}

/** The id of the task with this number, or of this part of another. */
export function taskId(parent: string, number: number): string {
  if (parent === '') return `req_${String(number).padStart(4, '0')}`
  if (number > MOST_CHILDREN) {
    throw new Problem(
      'move_refused',
      `${parent} has ${MOST_CHILDREN} parts, and cannot have more`,
      `Make one of them a task with parts of its own: --parent ${parent}_${MOST_CHILDREN}.`,
      { parent },
    )
  }
  return `${parent}_${String(number).padStart(2, '0')}`
}

/** The id of the task that this one is a part of; empty for none. */
export function parentOf(id: string): string {
  return /^(req_\d+(?:_\d{2})*)_\d{2}$/.exec(id)?.[1] ?? ''
}

/** The numbers in an id: that of the whole family, and its own. */
export function numbersIn(id: string): { readonly family: number; readonly number: number } {
  const numbers = id.split('_').slice(1).map(Number)
  return { family: numbers[0] ?? 0, number: numbers.at(-1) ?? 0 }
}

export function directoryName({ id, slug }: { readonly id: string; readonly slug: string }): string {
  return `${id}_${slug}`
}

/** The id and the slug in the name of a directory. */
export function readDirectoryName(name: string): { readonly id: string; readonly slug: string } | undefined {
  const [, id, slug] = DIRECTORY.exec(name) ?? []
  return id !== undefined && slug !== undefined && !/^\d{2}(?:_|$)/.test(slug) ? { id, slug } : undefined
}

/** A title as part of a directory's name; `task` where nothing in it can be written in Latin letters and digits. */
export function slugOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .replace(/^(\d{2})(?=_|$)/, 'n$1')
    .slice(0, 40)
    .replace(/_$/, '')
  return plain || 'task'
}
