import { Problem } from '../core/problem.ts'

/** How many parts a task may have: two digits in a name. */
const MOST_CHILDREN = 99

const ID = /^req_\d{4,15}(?:_\d{2})*$/
/** An id, and behind it the slug: as many pairs of digits as there are belong to the id. */
const DIRECTORY = /^(req_\d{4,15}(?:_\d{2})*)_(?!\d{2}(?:_|$))([^/\\\p{C}\p{Zl}\p{Zp}]+)$/u
const SLUG = /^(?!\d{2}(?:_|$))[a-z0-9]+(?:_[a-z0-9]+)*$/
const LONGEST_SLUG = 60
/** With a slug and the end of a file's name behind it, still less than the 255 bytes that file systems take. */
const LONGEST_ID = 180

export const NAMED = 'must be named req_ with at least 4 digits, and a slug: req_0001_yaml_migration'

export function isTaskId(id: string): boolean {
  return ID.test(id)
}

/** Whether this can be the slug of a new task. */
export function isSlug(slug: string): boolean {
  return slug.length <= LONGEST_SLUG && SLUG.test(slug)
}

/** A slug from outside, before it names a directory. */
export function checkedSlug(slug: string): string {
  if (isSlug(slug)) return slug
  throw new Problem(
    'bad_input',
    `slug: "${slug.slice(0, 100)}" cannot be part of a directory's name`,
    `Use lower-case letters and digits in words joined by _, ${LONGEST_SLUG} characters at most; the first word cannot be two digits, as those number the parts of a task.`,
    { slug: slug.slice(0, 200) },
  )
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
  const id = `${parent}_${String(number).padStart(2, '0')}`
  if (id.length <= LONGEST_ID) return id
  throw new Problem(
    'move_refused',
    `${parent} is part of a part of a part, so deep that its name cannot become longer`,
    'Add it as a task of its own, without --parent.',
    { parent },
  )
}

/** The id in what somebody wrote to name a task: `req_0001`, `#0001`, `0001_02`, or the name of its directory. */
export function readTaskId(text: string): string | undefined {
  const [, digits, parts, slug] = /^#?(?:req_)?(\d{1,15})((?:_\d{2})*)(?:_(?!\d{2}(?:_|$))(.+))?$/i.exec(text) ?? []
  if (digits === undefined || (slug !== undefined && !/^req_/i.test(text))) return undefined
  return `req_${digits.padStart(4, '0')}${parts}`
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

/** The id and the slug in the name of a directory. Others name theirs as they like: the slug is whatever a file system takes. */
export function readDirectoryName(name: string): { readonly id: string; readonly slug: string } | undefined {
  const [, id, slug] = DIRECTORY.exec(name) ?? []
  return id !== undefined && slug !== undefined && slug === slug.trim() ? { id, slug } : undefined
}

/** A title as part of a directory's name; `task` where nothing in it can be written in Latin letters and digits. */
export function slugOf(title: string, longest = 40): string {
  const plain = title
    .slice(0, 1000)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .replace(/^(\d{2})(?=_|$)/, 'n$1')
    .slice(0, longest)
    .replace(/_$/, '')
  return plain || 'task'
}
