/** A length of time as it is read: 0.4s, 42s, 4m12s, 2h05m. */
export function lasted(ms: number): string {
  if (ms < 9950) return `${(ms / 1000).toFixed(1).replace('.0', '')}s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`
  return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
