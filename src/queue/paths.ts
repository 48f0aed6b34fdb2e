/** Paths that a task will write, below the folder it works in. A folder stands for everything in it. */

/** A path in its one form, `src/parser` say, of a pattern the folder it looks in; undefined for what lies outside, or is none. */
export function writtenPath(text: string): string | undefined {
  const all = text.trim().replaceAll('\\', '/').split('/')
  const pattern = all.findIndex(part => /[*?]/.test(part))
  const parts = (pattern < 0 ? all : all.slice(0, pattern)).filter(
    (part, index) => part !== '.' && (part !== '' || index === 0),
  )
  const inside = parts.length > 0 && parts[0] !== '' && !/^[a-z]:$/i.test(parts[0]!) && !parts.includes('..')
  return inside ? parts.join('/') : undefined
}

/** The first path of the one that the other writes as well, or something in it or around it. */
export function shared(one: readonly string[], other: readonly string[]): string | undefined {
  return one.find(path => other.some(theirs => isWithin(path, theirs) || isWithin(theirs, path)))
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
