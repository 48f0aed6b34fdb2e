import { createInterface } from 'node:readline'
import { open, Problem } from '../../src/index.ts'

// One of several processes at one queue. Each line tells what to do, and is answered with the ids of the tasks it got.
const [root, name] = process.argv.slice(2)
const { PUNCHLIST_STORE: store } = process.env
const list = await open({ root: root!, actor: name!, ...(store ? { store } : {}) })
const { queue } = list
process.stdout.write('[]\n')
for await (const line of createInterface({ input: process.stdin })) {
  const [verb, count, parent] = line.split(' ')
  const ids =
    verb === 'claim' ? await claimed() : verb === 'key' ? await keyed(count!) : await added(Number(count), parent)
  process.stdout.write(`${JSON.stringify(ids)}\n`)
}
await list.close()

async function keyed(key: string): Promise<string[]> {
  const { task } = await queue.add({
    items: [{ title: `Keyed ${key}`, description: 'Any.', expect: 'It is done.', key }],
  })
  return [task.id]
}

async function added(count: number, parent?: string): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const item = { title: `${name} ${n}`, description: 'Any.', expect: 'It is done.' }
    ids.push((await queue.add({ items: [item], parent })).task.id)
  }
  return ids
}

/** Until nothing is left. */
async function claimed(): Promise<string[]> {
  const ids: string[] = []
  try {
    for (;;) ids.push((await queue.claim()).task.id)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'nothing_to_do') throw error
  }
  return ids
}
