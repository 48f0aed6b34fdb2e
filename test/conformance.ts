import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Problem, ProblemCode } from '../src/core/problem.ts'
import type { Claim, Query, Store } from '../src/core/store.ts'
import { planItem as kind } from '../src/plans/record.ts'
import { draft, note } from './support/drafts.ts'

/** What every engine owes. `open` gives a store of its own to each promise; `again` opens the same one a second time. */
export function conformance(name: string, open: () => Promise<{ store: Store; again: () => Promise<Store> }>): void {
  describe(`the ${name} engine`, () => {
    let store: Store
    let again: () => Promise<Store>
    const others: Store[] = []

    beforeEach(async () => {
      ;({ store, again } = await open())
    })
    afterEach(async () => {
      await Promise.all([store, ...others.splice(0)].map(one => one.close()))
    })

    const another = async () => {
      const other = await again()
      others.push(other)
      return other
    }
    const mine: Query = { where: { conversationId: 'c1', turnId: 't1' }, status: ['pending'] }
    const claim = (owner: string, leaseMs?: number): Claim => ({
      owner,
      leaseMs,
      fields: { status: 'in_progress', startedAt: note.at },
    })
    const add = async (...titles: string[]) =>
      (
        await store.insert(
          kind,
          titles.map(title => draft(title)),
          note,
        )
      ).map(({ item }) => item)
    const titles = async (query: Query = { where: { conversationId: 'c1', turnId: 't1' } }) =>
      (await store.find(kind, query)).map(({ title }) => title)

    describe('adding', () => {
      test('keeps every field as it was given, and numbers places from 0', async () => {
        const full = draft('α, "quoted" and \\ back', {
          fields: {
            context: 'line one\nline two\t‮end',
            completionCriteria: "it's done; DROP TABLE turn_todos",
            agentType: 'coder',
            checkCommand: ['npm', 'test', '{"a":1}'],
            carriedFrom: 'x',
            needs: 'a password',
            mirrors: 'host:1',
          },
        })
        const [added] = await store.insert(kind, [full], note)
        expect(added).toEqual({
          created: true,
          item: {
            id: full.id,
            title: full.title,
            status: 'pending',
            owner: null,
            token: 0,
            leaseUntil: null,
            identity: null,
            revision: 1,
            conversationId: 'c1',
            turnId: 't1',
            context: full.fields['context'],
            completionCriteria: full.fields['completionCriteria'],
            agentType: 'coder',
            priority: 0,
            outcome: null,
            createdAt: note.at,
            startedAt: null,
            completedAt: null,
            completionMode: null,
            checkCommand: ['npm', 'test', '{"a":1}'],
            evidence: null,
            verification: null,
            verifiedAt: null,
            carriedFrom: 'x',
            needs: 'a password',
            mirrors: 'host:1',
          },
        })
        expect(await store.find(kind, { where: { id: full.id } })).toEqual([added!.item])
      })

      test('keeps the order of a batch, and a second batch follows the first', async () => {
        await add('a', 'b', 'c')
        await add('d', 'e')
        expect(await titles()).toEqual(['a', 'b', 'c', 'd', 'e'])
        expect((await store.find(kind, {})).map(item => item.priority)).toEqual([0, 1, 2, 3, 4])
      })

      test('inserting at a place moves the rest back, without gaps and without touching other lists', async () => {
        await store.insert(kind, [draft('other', { fields: { turnId: 't2' } })], note)
        await add('a', 'b')
        const added = await store.insert(
          kind,
          [draft('first', { at: 0 }), draft('second', { at: 1 }), draft('far', { at: 99 })],
          note,
        )
        expect(await titles()).toEqual(['first', 'second', 'a', 'b', 'far'])
        expect(added.map(({ item }) => item.priority)).toEqual([0, 1, 4])
        expect((await store.find(kind, { where: { turnId: 't2' } }))[0]!.priority).toBe(0)
      })

      test('keeps the texts of each draft', async () => {
        const [a, b, c] = [
          draft('a', { texts: { log: 'one\n"two"', error: '' } }),
          draft('b'),
          draft('c', { at: 0, texts: { log: 'three ✓' } }),
        ]
        await store.insert(kind, [a, b], note)
        await store.insert(kind, [c], note)
        const texts = await store.texts(kind, [a.id, b.id, c.id])
        expect(Object.fromEntries(texts)).toEqual({ [a.id]: a.texts, [c.id]: c.texts })
      })

      test('says where an item of a batch stands after the whole batch', async () => {
        const added = await store.insert(kind, [draft('a', { at: 0 }), draft('b', { at: 0 })], note)
        expect(added.map(({ item }) => [item.title, item.priority])).toEqual([
          ['a', 1],
          ['b', 0],
        ])
      })

      test('an identity is held by one item: adding it again gives that one back as it stands', async () => {
        const [first] = await store.insert(kind, [draft('a', { identity: 'k' })], note)
        const [second, third] = await store.insert(kind, [draft('a again', { identity: 'k' }), draft('b')], note)
        expect(second).toEqual({ created: false, item: first!.item })
        expect(third!.item.priority).toBe(1)
        expect(await titles()).toEqual(['a', 'b'])
      })

      test('an identity that was given up may be taken again', async () => {
        const [first] = await store.insert(kind, [draft('a', { identity: 'k' })], note)
        await store.save(
          kind,
          {
            id: first!.item.id,
            revision: 1,
            from: 'pending',
            fields: { status: 'completed', outcome: 'x', identity: null },
          },
          note,
        )
        const [second] = await store.insert(kind, [draft('a', { identity: 'k' })], note)
        expect(second!.created).toBe(true)
      })

      test('rivals with one identity make one item', async () => {
        const stores = [store, await another(), await another()]
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, n) => stores[n % 3]!.insert(kind, [draft(`a${n}`, { identity: 'k' })], note)),
        )
        expect(answers.filter(([answer]) => answer!.created)).toHaveLength(1)
        expect(new Set(answers.map(([answer]) => answer!.item.id)).size).toBe(1)
      })

      test('rivals that append to one list never get the same place', async () => {
        const stores = [store, await another(), await another()]
        await Promise.all(
          Array.from({ length: 12 }, (_, n) => stores[n % 3]!.insert(kind, [draft(`a${n}`), draft(`b${n}`)], note)),
        )
        const places = (await store.find(kind, {})).map(item => item.priority)
        expect(places).toEqual(Array.from({ length: 24 }, (_, n) => n))
      })

      test('a batch with one bad draft leaves nothing behind', async () => {
        const bad = { ...draft('bad'), status: 'nonsense' }
        await expect(store.insert(kind, [draft('good'), bad], note)).rejects.toThrow()
        expect(await store.find(kind, {})).toEqual([])
        expect(await store.events({})).toEqual([])
        await add('after')
        expect(await titles()).toEqual(['after'])
      })
    })

    describe('finding', () => {
      test('filters by fields and status, in the order of places', async () => {
        const [a] = await add('a', 'b', 'c')
        await store.save(
          kind,
          { id: a!.id, revision: 1, from: 'pending', fields: { status: 'completed', outcome: 'x' } },
          note,
        )
        expect(await titles({ where: { turnId: 't1' }, status: ['pending', 'in_progress'] })).toEqual(['b', 'c'])
        expect(await titles({ where: { turnId: 't1' }, status: ['completed'] })).toEqual(['a'])
        expect(await titles({ where: { turnId: 'nowhere' } })).toEqual([])
        expect(await titles({ where: { turnId: "t1' OR '1'='1" } })).toEqual([])
      })

      test('finds, counts and gives what has an empty field, and what has it filled in', async () => {
        const blocked = draft('one', { fields: { needs: 'a password' } })
        await store.insert(kind, [blocked, draft('two'), draft('three')], note)
        const free = { conversationId: 'c1', turnId: 't1', needs: null }
        expect(await titles({ where: free })).toEqual(['two', 'three'])
        expect(await titles({ where: { ...free, needs: 'a password' } })).toEqual(['one'])
        expect(await store.count(kind, { where: free })).toEqual({ pending: 2 })
        const taken = await store.take(kind, { ...mine, where: free, limit: 1 }, claim('ann'), note)
        expect(taken?.title).toBe('two')
        const more = await store.takeAll(kind, { ...mine, where: free, limit: 5 }, claim('bob'), note)
        expect(more.map(({ title }) => title)).toEqual(['three'])
        expect(await store.take(kind, { ...mine, where: free, limit: 1 }, claim('eve'), note)).toBeUndefined()
      })

      test('pages from the item after the last one seen, in both directions', async () => {
        const items = await add('a', 'b', 'c', 'd', 'e')
        expect(await titles({ limit: 2 })).toEqual(['a', 'b'])
        expect(await titles({ limit: 2, after: items[1]!.id })).toEqual(['c', 'd'])
        expect(await titles({ limit: 2, after: items[4]!.id })).toEqual([])
        expect(await titles({ limit: 2, newest: true })).toEqual(['e', 'd'])
        expect(await titles({ limit: 2, newest: true, after: items[3]!.id })).toEqual(['c', 'b'])
        expect(await titles({ limit: 0 })).toEqual([])
      })

      test('counts by status, for one list', async () => {
        const [a] = await add('a', 'b', 'c')
        await store.insert(kind, [draft('other', { fields: { turnId: 't2' } })], note)
        await store.save(
          kind,
          { id: a!.id, revision: 1, from: 'pending', fields: { status: 'cancelled', outcome: 'x' } },
          note,
        )
        expect(await store.count(kind, { where: { conversationId: 'c1', turnId: 't1' } })).toEqual({
          pending: 2,
          cancelled: 1,
        })
        expect(await store.count(kind, { where: { turnId: 't1' }, status: ['cancelled'] })).toEqual({ cancelled: 1 })
        expect(await store.count(kind, { where: { turnId: 'nowhere' } })).toEqual({})
        expect(await store.count(kind, {})).toEqual({ pending: 3, cancelled: 1 })
      })
    })

    describe('changing', () => {
      test('writes what changes, counts the revision, and leaves the rest', async () => {
        const [a] = await add('a')
        const fields = { status: 'completed', outcome: 'done', verification: { exit: 0 }, completedAt: note.at }
        const saved = await store.save(kind, { id: a!.id, revision: 1, from: 'pending', fields }, note)
        expect(saved).toEqual({ ...a, ...fields, revision: 2 })
        expect(await store.find(kind, {})).toEqual([saved])
      })

      test('a change decided on an older revision is refused and leaves no trace', async () => {
        const [a] = await add('a')
        const change = { id: a!.id, revision: 1, from: 'pending', fields: { context: 'first' } }
        await store.save(kind, change, note)
        const before = [await store.find(kind, {}), await store.events({})]
        await refusedWith('changed_meanwhile', store.save(kind, { ...change, fields: { context: 'second' } }, note))
        await refusedWith('not_found', store.save(kind, { ...change, id: 'nobody' }, note))
        expect([await store.find(kind, {}), await store.events({})]).toEqual(before)
      })

      test('of many rivals with the same revision one wins', async () => {
        const [a] = await add('a')
        const stores = [store, await another()]
        const results = await Promise.allSettled(
          Array.from({ length: 8 }, (_, n) =>
            stores[n % 2]!.save(kind, { id: a!.id, revision: 1, from: 'pending', fields: { context: `${n}` } }, note),
          ),
        )
        expect(results.filter(result => result.status === 'fulfilled')).toHaveLength(1)
        expect(await store.events({})).toHaveLength(2)
      })

      test('being moved along by an insertion does not make a revision stale', async () => {
        const [a] = await add('a')
        await store.insert(kind, [draft('before', { at: 0 })], note)
        const saved = await store.save(
          kind,
          { id: a!.id, revision: 1, from: 'pending', fields: { context: 'x' } },
          note,
        )
        expect(saved.priority).toBe(1)
      })
    })

    describe('claiming', () => {
      test('gives the first match, with its owner and a new token', async () => {
        await add('a', 'b')
        const taken = await store.take(kind, mine, claim('w1'), note)
        expect(taken).toMatchObject({ title: 'a', status: 'in_progress', owner: 'w1', token: 1, startedAt: note.at })
        expect(taken).toMatchObject({ leaseUntil: null, revision: 2 })
        expect((await store.take(kind, mine, claim('w2'), note))!.title).toBe('b')
        expect(await store.take(kind, mine, claim('w3'), note)).toBeUndefined()
      })

      test('gives one item to exactly one of many takers', async () => {
        await add('a')
        const stores = [store, await another(), await another()]
        const taken = await Promise.all(
          Array.from({ length: 12 }, (_, n) => stores[n % 3]!.take(kind, mine, claim(`w${n}`), note)),
        )
        expect(taken.filter(Boolean)).toHaveLength(1)
      })

      test('gives every item once when many take many', async () => {
        await add(...Array.from({ length: 40 }, (_, n) => `i${n}`))
        const stores = [store, await another(), await another(), await another()]
        const taken: string[] = []
        await Promise.all(
          stores.map(async (one, n) => {
            for (let item; (item = await one.take(kind, mine, claim(`w${n}`), note)); ) taken.push(item.title)
          }),
        )
        expect(taken.toSorted()).toEqual(Array.from({ length: 40 }, (_, n) => `i${n}`).toSorted())
      })

      test('a lease runs out by the engine’s clock, and is then reported, the longest overdue first', async () => {
        await add('a', 'b', 'c')
        await store.take(kind, mine, claim('w1', 1000), note)
        await store.take(kind, mine, claim('w2', 900), note)
        await store.take(kind, mine, claim('w3', 60_000), note)
        expect(await store.lapsed(kind, 10)).toEqual([])
        await sleep(1100)
        expect((await store.lapsed(kind, 10)).map(({ title }) => title)).toEqual(['b', 'a'])
        expect((await store.lapsed(kind, 1)).map(({ title }) => title)).toEqual(['b'])
      })

      test('a lease that is renewed does not run out', async () => {
        await add('a')
        const taken = await store.take(kind, mine, claim('w1', 1000), note)
        for (let n = 0; n < 3; n++) {
          await sleep(400)
          await store.renew(kind, taken!.id, taken!.token, 1000)
        }
        expect(await store.lapsed(kind, 10)).toEqual([])
        const ahead = Date.parse((await store.renew(kind, taken!.id, 1, 60_000)).leaseUntil!) - Date.now()
        expect(ahead).toBeGreaterThan(50_000)
        expect(ahead).toBeLessThan(70_000)
      })

      test('a claim without a lease gets one when it is renewed, and none when the item is closed', async () => {
        await add('a')
        const taken = (await store.take(kind, mine, claim('w1'), note))!
        const renewed = await store.renew(kind, taken.id, taken.token, 60_000)
        expect(renewed).toEqual({ ...taken, leaseUntil: renewed.leaseUntil })
        expect(Date.parse(renewed.leaseUntil!) - Date.now()).toBeGreaterThan(50_000)
        const done = { status: 'completed', outcome: 'x', leaseUntil: null }
        await store.save(kind, { id: taken.id, revision: taken.revision, from: 'in_progress', fields: done }, note)
        await refusedWith('lease_lost', store.renew(kind, taken.id, taken.token, 60_000))
        expect(await store.find(kind, {})).toMatchObject([{ status: 'completed', leaseUntil: null }])
      })

      test('whoever lost an item can neither report nor renew, and changes nothing by trying', async () => {
        await add('a')
        const first = (await store.take(kind, mine, claim('slow', 10), note))!
        const back = { status: 'pending', owner: null, leaseUntil: null }
        await store.save(kind, { id: first.id, revision: first.revision, from: 'in_progress', fields: back }, note)
        await refusedWith('lease_lost', store.renew(kind, first.id, first.token, 1000))
        const second = (await store.take(kind, mine, claim('quick', 60_000), note))!
        expect(second.token).toBe(2)
        const late = { id: first.id, revision: second.revision, from: 'in_progress', token: first.token }
        await refusedWith(
          'lease_lost',
          store.save(kind, { ...late, fields: { status: 'completed', outcome: 'late' } }, note),
        )
        await refusedWith('lease_lost', store.renew(kind, first.id, first.token, 1000))
        await refusedWith('not_found', store.renew(kind, 'nobody', 1, 1000))
        expect(await store.find(kind, {})).toEqual([second])
        const done = { status: 'completed', outcome: 'mine', leaseUntil: null }
        await store.save(kind, { ...late, token: second.token, fields: done }, note)
        expect(await store.lapsed(kind, 10)).toEqual([])
      })
    })

    describe('telling', () => {
      test('every write leaves its event, in order, with who, when, why, revision and token', async () => {
        const [a] = await add('a')
        const taken = await store.take(kind, mine, claim('w1'), { ...note, by: 'w1' })
        const done = {
          id: a!.id,
          revision: taken!.revision,
          from: 'in_progress',
          fields: { status: 'completed', outcome: 'x' },
        }
        await store.save(kind, done, { by: 'boss', at: '2026-01-02T03:04:06.000Z', why: 'looked at it' })
        const events = await store.events({})
        const common = { kind: 'plan_item', id: a!.id, title: 'a', why: null }
        expect(events.map(({ seq: _, ...event }) => event)).toEqual([
          { ...common, ...note, from: null, to: 'pending', revision: 1, token: 0 },
          { ...common, ...note, by: 'w1', from: 'pending', to: 'in_progress', revision: 2, token: 1 },
          {
            ...common,
            by: 'boss',
            at: '2026-01-02T03:04:06.000Z',
            why: 'looked at it',
            from: 'in_progress',
            to: 'completed',
            revision: 3,
            token: 1,
          },
        ])
        expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((x, y) => x - y))
      })

      test('can be read on from any number, in bounded steps, and from the end', async () => {
        await add('a', 'b', 'c', 'd')
        const all = await store.events({})
        expect(await store.events({ after: all[1]!.seq })).toEqual(all.slice(2))
        expect(await store.events({ after: all[0]!.seq, limit: 2 })).toEqual(all.slice(1, 3))
        expect(await store.events({ last: 2 })).toEqual(all.slice(2))
        expect(await store.events({ after: all[3]!.seq })).toEqual([])
      })

      test('a follower sees every event once while many write', async () => {
        const writers = [store, await another(), await another()]
        const reader = await another()
        let writing = true
        const written = Promise.all(
          writers.map(async (writer, n) => {
            for (let i = 0; i < 25; i++) {
              const [added] = await writer.insert(kind, [draft(`${n}-${i}`, { fields: { turnId: `t${n}` } })], note)
              const where = { id: added!.item.id }
              await writer.take(kind, { where, status: ['pending'] }, claim('w'), note)
            }
          }),
        ).finally(() => {
          writing = false
        })
        const seen: number[] = []
        for (let more = true; more; ) {
          more = writing
          const events = await reader.events({ after: seen.at(-1) ?? 0, limit: 7 })
          seen.push(...events.map(({ seq }) => seq))
          more ||= events.length > 0
          await sleep(1)
        }
        await written
        expect(seen).toHaveLength(150)
        expect(new Set(seen).size).toBe(150)
        expect((await reader.events({})).map(({ seq }) => seq)).toEqual(seen)
      })

      test('a waiter is woken by what another one writes', async () => {
        const other = await another()
        await add('a')
        const seq = (await store.events({ last: 1 }))[0]!.seq
        const began = performance.now()
        const waiting = other.changed(seq, 20_000)
        await sleep(50)
        await add('b')
        await waiting
        expect(await other.events({ after: seq })).toHaveLength(1)
        expect(performance.now() - began).toBeLessThan(10_000)
      })

      test('a waiter that need not wait, may not wait longer, or is called off, comes back', async () => {
        await add('a')
        await store.changed(0, 20_000)
        const seq = (await store.events({ last: 1 }))[0]!.seq
        await store.changed(seq, 30)
        const abort = new AbortController()
        const waiting = store.changed(seq, 20_000, abort.signal)
        abort.abort()
        await waiting
      })
    })

    test('what was answered is there for whoever opens the store afterwards', async () => {
      const [a] = await add('a')
      await store.take(kind, mine, claim('w1', 60_000), note)
      const other = await another()
      const [found] = await other.find(kind, {})
      expect(found).toMatchObject({ id: a!.id, status: 'in_progress', owner: 'w1', token: 1 })
    })

    test('looks at its own health', async () => {
      const findings = await store.inspect()
      expect(findings.length).toBeGreaterThan(0)
      expect(findings.filter(({ ok }) => !ok)).toEqual([])
    })
  })
}

async function refusedWith(code: ProblemCode, answer: Promise<unknown>): Promise<void> {
  await expect(answer).rejects.toSatisfy(error => (error as Problem).code === code)
}
