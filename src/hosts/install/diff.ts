/** The change of one file as a unified diff; nothing where it stays the same. */
export function unifiedDiff(file: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return ''
  const steps = shortest(linesOf(before ?? ''), linesOf(after ?? ''))
  const heads = [
    before === undefined ? '--- /dev/null' : `--- ${file}`,
    after === undefined ? '+++ /dev/null' : `+++ ${file}`,
  ]
  return [...heads, ...hunks(steps)].join('\n')
}

interface Step {
  readonly sign: ' ' | '-' | '+'
  readonly line: string
}

const AROUND = 3

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') return lines.slice(0, -1)
  return [...lines.slice(0, -1), `${lines.at(-1)}\n\\ No newline at end of file`]
}

/** Files of settings are short and most of their lines stay, so what they share at both ends is left out first. */
function shortest(old: readonly string[], now: readonly string[]): Step[] {
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let foot = 0
  while (foot < old.length - head && foot < now.length - head && old.at(-1 - foot) === now.at(-1 - foot)) foot++
  const same = (lines: readonly string[]) => lines.map((line): Step => ({ sign: ' ', line }))
  return [
    ...same(old.slice(0, head)),
    ...middle(old.slice(head, old.length - foot), now.slice(head, now.length - foot)),
    ...same(old.slice(old.length - foot)),
  ]
}

const LARGEST = 4_000_000

function middle(old: readonly string[], now: readonly string[]): Step[] {
  if (old.length * now.length > LARGEST) {
    return [...old.map((line): Step => ({ sign: '-', line })), ...now.map((line): Step => ({ sign: '+', line }))]
  }
  // common[i][j]: how many lines the rests from i and from j have in common.
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1))
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i]![j] = old[i] === now[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!)
    }
  }
  const steps: Step[] = []
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      steps.push({ sign: ' ', line: old[i]! })
      i++
      j++
    } else if (j < now.length && (i === old.length || common[i]![j + 1]! > common[i + 1]![j]!)) {
      steps.push({ sign: '+', line: now[j++]! })
    } else {
      steps.push({ sign: '-', line: old[i++]! })
    }
  }
  return steps
}

function hunks(steps: readonly Step[]): string[] {
  const wanted = steps.map((_, place) =>
    steps.slice(Math.max(0, place - AROUND), place + AROUND + 1).some(({ sign }) => sign !== ' '),
  )
  const out: string[] = []
  let [oldLine, newLine] = [1, 1]
  for (let place = 0; place < steps.length; ) {
    let end = place
    while (end < steps.length && wanted[end]) end++
    const hunk = steps.slice(place, end)
    const olds = hunk.filter(({ sign }) => sign !== '+').length
    const news = hunk.filter(({ sign }) => sign !== '-').length
    if (hunk.length > 0) {
      out.push(`@@ -${range(oldLine, olds)} +${range(newLine, news)} @@`)
      out.push(...hunk.map(({ sign, line }) => sign + line))
      oldLine += olds
      newLine += news
      place = end
    } else {
      oldLine++
      newLine++
      place++
    }
  }
  return out
}

function range(line: number, count: number): string {
  return count === 0 ? `${line - 1},0` : `${line},${count}`
}
