/**
 * The files, commands and artifacts an outcome names. Whether they say what the
 * outcome claims is for a reader to judge; an outcome that names none of them
 * gives a reader nothing to look at.
 */
export function evidenceIn(outcome: string): string[] {
  const quoted = [...outcome.matchAll(/`([^`\n]{2,200})`/g)].map(match => match[1]!.trim())
  const words = outcome.split(/[\s,;()[\]{}<>"'`]+/).map(word => word.replace(/[.:!?]+$/, ''))
  const named = words.filter(word => !PHRASES.test(word) && ARTIFACTS.some(pattern => pattern.test(word)))
  return [...new Set([...quoted, ...named].filter(Boolean))].slice(0, 20)
}

const ARTIFACTS = [
  // A path, or a file by its ending; a version number or "e.g." is neither.
  /^(?:\.{0,2}\/)?[\w@.-]+(?:\/[\w@.-]+)*(?:\/|\/[\w@.-]+)$/,
  /^[\w@-][\w@.-]*\.(?=[a-z0-9]*[a-z])[a-z0-9]{2,8}(?::\d+)?$/i,
  /^https?:\/\/\S{3,}$/,
  // A commit, a pull request or an issue.
  /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,40}$/,
  /^(?:[\w.-]+\/[\w.-]+)?#\d+$/,
]

/** With a slash, but no path. */
const PHRASES =
  /^(?:and\/or|either\/or|yes\/no|on\/off|true\/false|n\/a|w\/o?|he\/she|his\/her|its?\/their|I\/O|24\/7)$/i
