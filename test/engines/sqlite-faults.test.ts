import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/engines/sqlite/store.ts'
import { planItem } from '../../src/plans/record.ts'
import { answer, HOME, punchlist, refusal } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

const file = (cwd: string) => join(cwd, '.punchlist/punchlist.db')

async function workspace(): Promise<string> {
  const cwd = scratch()
  await answer(['plan', 'add', 'A', 'B'], { cwd })
  return cwd
}

describe('a database that', () => {
  test('is locked by another program: waited for, then a clear refusal, and nothing is lost', async () => {
    const cwd = await workspace()
    const holder = new DatabaseSync(file(cwd))
    holder.exec('BEGIN IMMEDIATE')
    const waiting = punchlist(['plan', 'add', 'C'], { cwd })
    // Reading goes on meanwhile.
    expect((await answer<{ items: unknown[] }>(['plan', 'list'], { cwd })).items).toHaveLength(2)
    holder.exec('COMMIT')
    expect((await waiting).status).toBe(0)

    holder.exec('BEGIN IMMEDIATE')
    const store = openSqliteStore(file(cwd), { busyMs: 200 })
    await expect(store.insert(planItem, [], { by: 'x', at: 'x' })).rejects.toMatchObject({ code: 'store_busy' })
    holder.close()
    await store.close()
  })

  test('is truncated: exit 7, named by doctor, left as it is', async () => {
    const cwd = await workspace()
    await answer(['plan', 'add', '--items', '-'], {
      cwd,
      input: JSON.stringify({ items: Array.from({ length: 500 }, (_, n) => ({ title: `t${n}` })) }),
    })
    truncateSync(file(cwd), 9000)
    const before = readFileSync(file(cwd))
    expect(await refusal(['plan', 'add', 'C'], { cwd })).toMatchObject({ status: 7, code: 'unreadable_file' })
    expect(await refusal(['plan', 'list'], { cwd })).toMatchObject({ status: 7, code: 'unreadable_file' })
    expect((await punchlist(['doctor'], { cwd })).status).toBe(7)
    expect((await punchlist(['doctor', '--fix'], { cwd })).status).toBe(7)
    expect((await punchlist(['init'], { cwd })).status).toBe(7)
    expect(readFileSync(file(cwd)).equals(before)).toBe(true)
  })

  test('is no database, or another program’s: exit 7, left as it is', async () => {
    const cwd = scratch()
    mkdirSync(join(cwd, '.punchlist'))
    writeFileSync(file(cwd), 'dear diary, this is not a database at all\n'.repeat(100))
    expect(await refusal(['plan', 'add', 'C'], { cwd })).toMatchObject({ status: 12, code: 'untrusted' })
    expect(await refusal(['trust', '--yes'], { cwd })).toMatchObject({ status: 7, code: 'unreadable_file' })

    const theirs = join(cwd, 'theirs.db')
    const db = new DatabaseSync(theirs)
    db.exec('CREATE TABLE notes (text TEXT)')
    db.close()
    const before = readFileSync(theirs)
    expect(await refusal(['plan', 'add', 'C', '--store', 'sqlite:theirs.db'], { cwd })).toMatchObject({ status: 7 })
    expect(readFileSync(theirs).equals(before)).toBe(true)
  })

  test('comes from a newer version: exit 8 before anything is written', async () => {
    const cwd = await workspace()
    const db = new DatabaseSync(file(cwd))
    db.exec('PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    const before = readFileSync(file(cwd))
    for (const args of [['plan', 'add', 'C'], ['plan', 'list'], ['init']]) {
      expect(await refusal(args, { cwd })).toMatchObject({ status: 8, code: 'newer_schema' })
    }
    expect((await punchlist(['doctor'], { cwd })).status).toBe(8)
    expect(readFileSync(file(cwd)).equals(before)).toBe(true)
  })

  test('may not be written by this user: exit 9, and the file is as it was', async () => {
    const cwd = await workspace()
    const before = readFileSync(file(cwd))
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', '65534:65534', cwd, HOME()])
    chmodSync(join(cwd, '.punchlist'), 0o555)
    chmodSync(file(cwd), 0o444)
    // Permissions do not bind root, so the program runs as somebody else then.
    const through =
      process.getuid?.() === 0
        ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath]
        : [process.execPath]
    const refused = await refusal(['plan', 'add', 'C'], { cwd, through })
    expect(refused).toMatchObject({ status: 9, code: 'store_read_only' })
    expect(refused.hint).toContain('writable')
    // What is there can still be read.
    expect((await answer<{ items: unknown[] }>(['plan', 'list'], { cwd, through })).items).toHaveLength(2)
    expect((await answer<{ events: unknown[] }>(['log'], { cwd, through })).events).toHaveLength(3)
    chmodSync(join(cwd, '.punchlist'), 0o700)
    expect(readFileSync(file(cwd)).equals(before)).toBe(true)
    const nowhere = await refusal(['plan', 'add', 'C', '--store', 'sqlite:/dev/null/x.db'], { cwd })
    expect(nowhere).toMatchObject({ status: 9, code: 'store_read_only' })
  })
})

describe('several programs', () => {
  test('that open a new store at once all find it whole', async () => {
    for (let round = 0; round < 3; round++) {
      const cwd = scratch()
      const ran = await Promise.all(
        Array.from({ length: 8 }, (_, n) => punchlist(['plan', 'add', `item ${n}`], { cwd })),
      )
      expect(ran.map(({ status, stderr }) => [status, stderr])).toEqual(ran.map(() => [0, '']))
      const { items } = await answer<{ items: { title: string; priority: number; carriedFrom: string | null }[] }>(
        ['plan', 'list'],
        { cwd },
      )
      // One turn for all of them, from the beginning.
      expect(items.filter(({ carriedFrom }) => carriedFrom !== null)).toEqual([])
      expect(items.map(({ title }) => title).toSorted()).toEqual(Array.from({ length: 8 }, (_, n) => `item ${n}`))
      expect(items.map(({ priority }) => priority)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    }
  })

  test('that ask for the next item never get the same one', async () => {
    const cwd = scratch()
    const items = Array.from({ length: 10 }, (_, n) => ({ title: `item ${n}` }))
    await answer(['plan', 'add', '--items', '-'], { cwd, input: JSON.stringify({ items }) })
    const ran = await Promise.all(
      Array.from({ length: 16 }, (_, n) => punchlist(['plan', 'start', '--json', '--actor', `w${n}`], { cwd })),
    )
    const got = ran
      .filter(({ status }) => status === 0)
      .map(({ stdout }) => (JSON.parse(stdout) as { title: string }).title)
    expect(got.toSorted()).toEqual(items.map(({ title }) => title))
    expect(ran.filter(({ status }) => status === 3)).toHaveLength(6)
  })
})

test('a process killed at any moment leaves the store whole, with everything it was answered', async () => {
  const folder = scratch()
  const path = join(folder, 'list.db')
  const worker = join(import.meta.dirname, '../support/sqlite-diary.ts')
  let answered = 0
  for (let round = 0; round < 12; round++) {
    const child = spawn(process.execPath, [worker, path, `r${round}`], { stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', text => (out += text))
    const gone = new Promise(done => child.on('close', done))
    await new Promise(done => child.stdout.once('data', done))
    await new Promise(done => setTimeout(done, 60 + Math.random() * 140))
    child.kill('SIGKILL')
    await gone
    const acknowledged = out.split('\n').filter(Boolean)
    const store = openSqliteStore(path)
    const items = await store.find(planItem, { where: { turnId: `r${round}` } })
    const there = new Map(items.map(item => [item.title, item.status]))
    for (const line of acknowledged) {
      const [title, status] = line.split(' ')
      if (status === 'completed') expect(there.get(title!)).toBe('completed')
      else expect(there.has(title!)).toBe(true)
    }
    // Never more than the one write that was not answered any more; and item and event are one.
    expect(items.length).toBeLessThanOrEqual(acknowledged.filter(line => line.endsWith('pending')).length + 1)
    const events = (await store.events({})).filter(({ title }) => there.has(title) && title.startsWith(`r${round}-`))
    expect(events.length).toBe(items.reduce((sum, item) => sum + item.revision, 0))
    expect((await store.inspect()).every(({ ok }) => ok)).toBe(true)
    await store.close()
    answered += acknowledged.length
  }
  expect(answered).toBeGreaterThan(50)
})
