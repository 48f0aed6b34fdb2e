import { cycleFrom, dependenciesAmong } from './dependencies.ts'
import { qualified } from './names.ts'
import type { Todo } from './record.ts'

/** One todo among those that wait for each other. */
export interface Node {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly priority: string
  readonly dependsOn: readonly string[]
  readonly blocks: readonly string[]
}

/** Who waits for whom: every todo that waits or is waited for, and the circles, if somebody made one by hand. */
export function graphOf(items: readonly Todo[]): { nodes: Node[]; cycles: string[][] } {
  const known = dependenciesAmong(items)
  const blocks = new Map<string, string[]>()
  for (const [id, dependencies] of known) {
    for (const other of dependencies) blocks.set(other, [...(blocks.get(other) ?? []), id])
  }
  const nodes = items
    .map(item => ({
      id: qualified(item),
      title: item.title,
      status: item.status,
      priority: item.priority,
      dependsOn: [...item.dependencies],
      blocks: blocks.get(qualified(item)) ?? [],
    }))
    .filter(({ dependsOn, blocks: waiting }) => dependsOn.length > 0 || waiting.length > 0)
  const cycles = new Map<string, string[]>()
  for (const { id, dependsOn } of nodes) {
    const cycle = cycleFrom(id, dependsOn, known)
    if (cycle) cycles.set([...new Set(cycle)].toSorted().join(' '), cycle)
  }
  return { nodes, cycles: [...cycles.values()] }
}
