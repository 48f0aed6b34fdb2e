import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, inject, test } from 'vitest'
import { openStore, planItem } from '../../src/index.ts'
import { draft, note } from '../support/drafts.ts'
import { freshSchema } from '../support/postgres.ts'
import { scratch } from '../support/scratch.ts'

const WORKER = join(import.meta.dirname, '../support/storm-worker.ts')
const ENGINES = {
  sqlite: () => `sqlite:${join(scratch(), 'list.db')}`,
  postgres: () => freshSchema(inject('postgres')),
}
const scale = Number(process.env['STORM'] ?? 1)

describe.each(Object.entries(ENGINES))('workers that are killed and frozen at random, on %s', (_engine, address) => {
  test('complete every item once, and whoever lost one cannot report', async () => {
    const url = address()
    const store = await openStore(url)
    await store.insert(
      planItem,
      Array.from({ length: 40 * scale }, (_, n) => draft(`item ${n}`)),
      note,
    )
    const said: string[] = []
    const workers: ChildProcess[] = []
    let failures = ''
    const hire = (n: number) => {
      const child = spawn(process.execPath, [WORKER, url, `w${n}`, '150'], { stdio: ['ignore', 'pipe', 'pipe'] })
      child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(...text.split('\n').filter(Boolean)))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (failures += text))
      workers.push(child)
    }
    for (let n = 0; n < 5; n++) hire(n)
    const where = { conversationId: 'c1', turnId: 't1' }
    for (let round = 0, left = 1; left > 0; round++) {
      const victim = workers[Math.floor(Math.random() * workers.length)]!
      if (round % 4 === 3 && round < 40 * scale) {
        victim.kill('SIGKILL')
        workers.splice(workers.indexOf(victim), 1)
        hire(100 + round)
      } else {
        victim.kill('SIGSTOP')
        await sleep(50 + Math.random() * 300)
        victim.kill('SIGCONT')
      }
      const { pending = 0, in_progress = 0 } = await store.count(planItem, { where })
      left = pending + in_progress
    }
    for (const worker of workers) worker.kill('SIGCONT')
    const running = workers.filter(({ exitCode }) => exitCode === null)
    await Promise.all(running.map(worker => new Promise(done => worker.on('close', done))))
    expect(failures).toBe('')

    const items = await store.find(planItem, { where })
    expect(items.filter(({ status }) => status !== 'completed')).toEqual([])
    const completions = new Map<string, number>()
    for (const { id, to } of await store.events({}))
      if (to === 'completed') completions.set(id, (completions.get(id) ?? 0) + 1)
    expect([...completions.values()].filter(times => times !== 1)).toEqual([])
    expect(completions.size).toBe(items.length)
    // Whoever was told that it is done had the claim under which it was done.
    const outcomes = new Map(items.map(({ id, outcome }) => [id, outcome]))
    const done = said.filter(line => line.startsWith('done'))
    for (const line of done) {
      const [, id, name, token] = line.split(' ')
      expect(outcomes.get(id!)).toBe(`${name} ${token}`)
    }
    expect(said.filter(line => line === 'lost lease_lost').length).toBeGreaterThan(0)
    await store.close()
  })
})
