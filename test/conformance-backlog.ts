import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { todo as kind } from '../src/backlog/kind.ts'
import type { Note } from '../src/core/event.ts'
import type { Problem, ProblemCode } from '../src/core/problem.ts'
import type { Claim, Query, Store } from '../src/core/store.ts'
import { keptTodo, type TodoDraft, todoDraft } from './support/todos.ts'

const note: Note = { by: 'tester', at: '2026-01-02T03:04:05.000Z' }
const later: Note = { by: 'boss', at: '2026-01-03T03:04:05.000Z', why: 'looked at it' }

/** What every engine owes to kinds whose items are numbered and have texts. `open` as for `conformance`. */
export function backlogConformance(
  name: string,
  open: () => Promise<{ store: Store; again: () => Promise<Store> }>,
): void {
  describe(`todos in the ${name} engine`, () => {
    let store: Store
    let again: () => Promise<Store>
    const others: Store[] = []

    beforeEach(async () => {
      ;({ store, again } = await open())
    })
    afterEach(async () => {
      await Promise.all([store, ...others.splice(0)].map(one => one.close()))
    })

    const eight = async () => {
      for (let n = 0; n < 8; n++) others.push(await again())
      return others.slice(-8)
    }
    const add = async (title: string, more: TodoDraft = {}) =>
      (await store.insert(kind, [todoDraft(title, more)], note))[0]!.item
    const ids = async (query: Query = {}) => (await store.find(kind, query)).map(({ id }) => id)
    const bodyOf = async (id: string) => (await store.texts(kind, [id])).get(id)?.['body']
    const claim = (owner: string, leaseMs?: number): Claim => ({
      owner,
      leaseMs,
      fields: { status: 'in_progress', assigned_to: owner, claimed_at: note.at },
    })

    describe('adding', () => {
      test('keeps every field as it was given, and gives the id, the number and the name of the file', async () => {
        const draft = todoDraft('α, "quoted" and \\ back: \'single\' #5 – ünï', {
          status: 'ready',
          body: '## Findings\n\nline "one"\n\n\ttabbed – ✓\n\n- [ ] it\'s; DROP TABLE texts',
          fields: {
            priority: 'p1',
            source_ref: 'src/a.ts:12 "x"',
            finding_id: 'SEC-001: é',
            finding_severity: 'high',
            tags: ['a', 'b, c', '"d"', "e'f", '#g', '[h]', '雪'],
            dependencies: ['review/007'],
            files: ['src/a b.ts', 'src/ü.ts'],
            work_session: 's0',
            mend_fixer_claim: 'fixer-1',
            related_todos: ['audit/001'],
            workflow_chain: ['reviews:r1', 'work:s1'],
            execution_order: 3,
            wave: 2,
          },
        })
        const [added] = await store.insert(kind, [draft], note)
        expect(added).toEqual({
          created: true,
          item: {
            ...draft.fields,
            id: 'work/s1/review/001',
            issue_id: '001',
            file: '001-ready-p1-quoted-and-back-single-5-uni.md',
            title: draft.title,
            status: 'ready',
            identity: draft.identity,
            owner: null,
            token: 0,
            leaseUntil: null,
            revision: 1,
          },
        })
        expect(await store.find(kind, { where: { id: added!.item.id } })).toEqual([added!.item])
        expect(await store.find(kind, { where: { identity: draft.identity! } })).toEqual([added!.item])
        expect(await bodyOf(added!.item.id)).toBe(draft.texts!['body'])
      })

      test('numbers the items of a list one after the other, and each list for itself', async () => {
        const drafts = ['review', 'review', 'audit', 'review'].map(source => todoDraft('x', { fields: { source } }))
        const added = await store.insert(kind, drafts, note)
        expect(added.map(({ item }) => item.id)).toEqual(
          ['review/001', 'review/002', 'audit/001', 'review/003'].map(id => `work/s1/${id}`),
        )
        expect((await add('y', { fields: { source: 'audit' } })).issue_id).toBe('002')
        expect((await add('z', { fields: { session: 's2' } })).issue_id).toBe('001')
        expect((await add('y')).issue_id).toBe('004')
      })

      test('a number is not given twice, even when its item is gone', async () => {
        await add('a')
        await add('b')
        await add('c', { fields: { session: 's2' } })
        expect(await store.remove(kind, { workflow: 'work', session: 's1' }, note)).toMatchObject({ count: 2 })
        expect((await add('d')).issue_id).toBe('003')
        const other = await again()
        others.push(other)
        expect(await other.insert(kind, [todoDraft('e')], note)).toMatchObject([{ item: { issue_id: '004' } }])
      })

      test('many stores that add to one list at once never give a number twice', async () => {
        const stores = await eight()
        const added = await Promise.all(
          stores.flatMap((one, n) =>
            Array.from({ length: 10 }, (_, i) => one.insert(kind, [todoDraft(`item ${n} ${i}`)], note)),
          ),
        )
        const numbers = added.map(([answer]) => Number(answer!.item.issue_id)).toSorted((x, y) => x - y)
        expect(numbers).toEqual(Array.from({ length: 80 }, (_, n) => n + 1))
        expect(new Set(await ids()).size).toBe(80)
      })

      test('a finding is one item, whoever adds it: at once, in another list, or when it is long finished', async () => {
        const finding = { finding_id: 'F-1', source_ref: 'a.ts:1' }
        const stores = await eight()
        const answers = await Promise.all(
          stores.map((one, n) =>
            one.insert(
              kind,
              [todoDraft(`by ${n}`, { fields: { ...finding, source: n % 2 ? 'review' : 'audit' } })],
              note,
            ),
          ),
        )
        expect(answers.filter(([answer]) => answer!.created)).toHaveLength(1)
        const [first] = await store.find(kind, {})
        expect(answers.map(([answer]) => answer!.item)).toEqual(answers.map(() => first))
        expect(await store.find(kind, {})).toHaveLength(1)
        const done = {
          status: 'wont_fix',
          resolution: 'out_of_scope',
          resolution_reason: 'x',
          resolved_by: 'x',
          resolved_at: note.at,
        }
        await store.save(kind, { id: first!.id, revision: 1, from: 'pending', fields: done }, note)
        const [held] = await store.insert(kind, [todoDraft('again', { fields: finding })], note)
        expect(held).toMatchObject({ created: false, item: { id: first!.id, status: 'wont_fix' } })
      })

      test('what is held uses up no number, also in a batch, and its text stays', async () => {
        const fields = { finding_id: 'F-1', source_ref: 'a.ts:1' }
        const held = await add('held', { fields, body: 'first' })
        const added = await store.insert(
          kind,
          [todoDraft('a'), todoDraft('again', { fields, body: 'second' }), todoDraft('b')],
          note,
        )
        expect(added.map(({ created, item }) => [created, item.title, item.issue_id])).toEqual([
          [true, 'a', '002'],
          [false, 'held', '001'],
          [true, 'b', '003'],
        ])
        expect(await bodyOf(held.id)).toBe('first')
        expect(await store.events({ of: { kind, id: held.id } })).toHaveLength(1)
      })
    })

    describe('finding', () => {
      test('filters by lists and status, in order of arrival and in pages, and counts', async () => {
        const a = await add('a')
        const b = await add('b', { status: 'ready' })
        const c = await add('c', { fields: { session: 's2' } })
        const d = await add('d', { status: 'ready', fields: { source: 'audit' } })
        const s1 = { workflow: 'work', session: 's1' }
        expect(await ids({ where: s1 })).toEqual([a.id, b.id, d.id])
        expect(await ids({ where: { ...s1, source: 'review' } })).toEqual([a.id, b.id])
        expect(await ids({ where: s1, status: ['ready', 'blocked'] })).toEqual([b.id, d.id])
        expect(await ids({ where: { workflow: 'arc' } })).toEqual([])
        expect(await ids({ limit: 2 })).toEqual([a.id, b.id])
        expect(await ids({ limit: 2, after: b.id })).toEqual([c.id, d.id])
        expect(await ids({ limit: 2, newest: true })).toEqual([d.id, c.id])
        expect(await ids({ newest: true, after: c.id })).toEqual([b.id, a.id])
        expect(await store.count(kind, { where: s1 })).toEqual({ pending: 1, ready: 2 })
        expect(await store.count(kind, { where: s1, status: ['ready'] })).toEqual({ ready: 2 })
        expect(await store.count(kind, { where: { workflow: 'arc' } })).toEqual({})
      })

      test('says which lists there are, in the order in which they began', async () => {
        await add('a', { fields: { session: 'zulu' } })
        await add('b', { fields: { session: 'alpha' } })
        await add('c', { fields: { session: 'zulu', source: 'audit' } })
        await add('d', { fields: { session: 'mike', workflow: 'arc' } })
        expect(await store.names(kind, 'session', { workflow: 'work' })).toEqual(['zulu', 'alpha'])
        expect(await store.names(kind, 'source', { workflow: 'work', session: 'zulu' })).toEqual(['review', 'audit'])
        expect(await store.names(kind, 'workflow', {})).toEqual(['work', 'arc'])
        expect(await store.names(kind, 'session', { workflow: 'audit' })).toEqual([])
        await expect(store.names(kind, 'title', {})).rejects.toThrow('title')
      })

      test('gives the texts of many items at once, and of those only', async () => {
        const drafts = Array.from({ length: 1200 }, (_, n) => todoDraft(`item ${n}`, { body: `text ${n}` }))
        const all = (await store.insert(kind, drafts, note)).map(({ item }) => item.id)
        const texts = await store.texts(kind, all)
        expect(all.map(id => texts.get(id))).toEqual(drafts.map(draft => draft.texts))
        expect([...(await store.texts(kind, [all[7]!, 'nobody']))]).toEqual([[all[7], { body: 'text 7' }]])
        expect((await store.texts(kind, [])).size).toBe(0)
      })

      test('says when each item was last written', async () => {
        const a = await add('a')
        expect(Date.parse((await store.activity(kind, [a.id, 'nobody'])).get(a.id)!)).toBeGreaterThan(0)
        expect((await store.activity(kind, ['nobody'])).size).toBe(0)
      })
    })

    describe('changing', () => {
      test('writes fields and text together, and leaves what is not named', async () => {
        const a = await add('a', { body: 'old' })
        const change = { id: a.id, revision: 1, from: 'pending', fields: { tags: ['x'] } }
        const saved = await store.save(kind, { ...change, texts: { body: 'new "text"\n\nand ✓' } }, note)
        expect(saved).toEqual({ ...a, tags: ['x'], revision: 2 })
        expect(await bodyOf(a.id)).toBe('new "text"\n\nand ✓')
        await store.save(kind, { ...change, revision: 2, fields: { tags: ['y'] } }, note)
        expect(await bodyOf(a.id)).toBe('new "text"\n\nand ✓')
        const alone = await store.save(kind, { ...change, revision: 3, fields: {}, texts: { body: 'alone' } }, note)
        expect(alone).toEqual({ ...a, tags: ['y'], revision: 4 })
        expect(await bodyOf(a.id)).toBe('alone')
      })

      test('several moves of one item and a claim are one write: all with their events, or none', async () => {
        const a = await add('a')
        const held = (await store.take(kind, { where: { id: a.id } }, claim('ann', 60_000), note))!
        const back = { resolution_reason: 'x', token: 2 }
        const interrupted = { status: 'interrupted', ...back }
        const free = { status: 'ready', resolution_reason: null, owner: null, assigned_to: null, claimed_at: null }
        const first = { id: a.id, revision: held.revision, from: 'in_progress', token: 1, fields: interrupted }
        const second = { id: a.id, revision: held.revision + 1, from: 'interrupted', fields: { ...free, token: 3 } }
        const whole = async () => [await store.find(kind, {}), await store.events({ of: { kind, id: a.id } })]
        const before = await whole()
        const stale = { ...second, revision: 9 }
        await refusedWith(
          'changed_meanwhile',
          store.saveSteps(kind, [
            { change: first, note },
            { change: stale, note },
          ]),
        )
        const late = { ...first, token: 7 }
        await refusedWith('lease_lost', store.saveSteps(kind, [{ change: late, note }], { claim: claim('bob'), note }))
        expect(await whole()).toEqual(before)
        const steps = [
          { change: first, note },
          { change: second, note: later },
        ] as const
        const taken = await store.saveSteps(kind, [...steps], { claim: claim('bob', 60_000), note })
        expect(taken).toMatchObject({ status: 'in_progress', owner: 'bob', assigned_to: 'bob', token: 4 })
        expect(taken.resolution_reason).toBeNull()
        expect(Date.parse(taken.leaseUntil!)).toBeGreaterThan(Date.now())
        const events = await store.events({ of: { kind, id: a.id } })
        expect(events.map(({ from, to, by }) => [from, to, by]).slice(-3)).toEqual([
          ['in_progress', 'interrupted', 'tester'],
          ['interrupted', 'ready', 'boss'],
          ['ready', 'in_progress', 'tester'],
        ])
      })

      test('a change decided on an older revision leaves the text as it was', async () => {
        const a = await add('a', { body: 'old' })
        const change = { id: a.id, revision: 1, from: 'pending', fields: {} }
        await store.save(kind, { ...change, texts: { body: 'first' } }, note)
        await refusedWith('changed_meanwhile', store.save(kind, { ...change, texts: { body: 'second' } }, note))
        await refusedWith(
          'not_found',
          store.save(kind, { ...change, id: 'work/s1/review/999', texts: { body: 'x' } }, note),
        )
        expect(await bodyOf(a.id)).toBe('first')
        expect((await store.texts(kind, ['work/s1/review/999'])).size).toBe(0)
        expect(await ids()).toEqual([a.id])
      })

      test('of many rivals with the same revision one wins, with its text', async () => {
        const a = await add('a')
        const results = await Promise.allSettled(
          (await eight()).map((one, n) =>
            one.save(
              kind,
              { id: a.id, revision: 1, from: 'pending', fields: { wave: n }, texts: { body: `by ${n}` } },
              note,
            ),
          ),
        )
        const won = results.filter(result => result.status === 'fulfilled')
        expect(won).toHaveLength(1)
        expect(await store.find(kind, {})).toEqual([won[0]!.value])
        expect(await bodyOf(a.id)).toBe(`by ${won[0]!.value.wave}`)
      })
    })

    describe('claiming', () => {
      test('gives the named item or the first that is ready, with owner, token and lease', async () => {
        await add('pending')
        const [b, c] = [await add('b', { status: 'ready' }), await add('c', { status: 'ready' })]
        const where = { workflow: 'work', session: 's1' }
        const named = await store.take(kind, { where: { id: c.id }, status: ['ready'] }, claim('w1', 60_000), note)
        expect(named).toEqual({
          ...c,
          status: 'in_progress',
          owner: 'w1',
          assigned_to: 'w1',
          claimed_at: note.at,
          token: 1,
          revision: 2,
          leaseUntil: named!.leaseUntil,
        })
        const ahead = Date.parse(named!.leaseUntil!) - Date.now()
        expect(ahead).toBeGreaterThan(50_000)
        expect(ahead).toBeLessThan(70_000)
        expect(await store.take(kind, { where, status: ['ready'] }, claim('w2'), note)).toMatchObject({
          id: b.id,
          token: 1,
          leaseUntil: null,
        })
        expect(await store.take(kind, { where, status: ['ready'] }, claim('w3'), note)).toBeUndefined()
        expect(await store.take(kind, { where: { id: c.id }, status: ['ready'] }, claim('w3'), note)).toBeUndefined()
      })

      test('gives each item once when many take many', async () => {
        await store.insert(
          kind,
          Array.from({ length: 20 }, (_, n) => todoDraft(`i${n}`, { status: 'ready' })),
          note,
        )
        const taken: string[] = []
        await Promise.all(
          (await eight()).map(async (one, n) => {
            for (let item; (item = await one.take(kind, { status: ['ready'] }, claim(`w${n}`), note)); )
              taken.push(item.id)
          }),
        )
        expect(taken.toSorted()).toEqual((await ids()).toSorted())
      })

      test('a claim without a lease gets one when it is renewed; one that has ended cannot be', async () => {
        const a = await add('a', { status: 'ready' })
        const taken = (await store.take(kind, { where: { id: a.id }, status: ['ready'] }, claim('w1'), note))!
        const renewed = await store.renew(kind, a.id, taken.token, 60_000)
        expect(Date.parse(renewed.leaseUntil!) - Date.now()).toBeGreaterThan(50_000)
        expect(renewed.revision).toBe(taken.revision)
        await refusedWith('lease_lost', store.renew(kind, a.id, taken.token + 1, 60_000))
        const waits = { status: 'blocked', dependencies: ['review/009'], leaseUntil: null }
        const change = { id: a.id, revision: taken.revision, from: 'in_progress', token: taken.token, fields: waits }
        expect(await store.save(kind, change, note)).toMatchObject({ owner: 'w1', leaseUntil: null })
        await refusedWith('lease_lost', store.renew(kind, a.id, taken.token, 60_000))
        expect(await store.find(kind, {})).toMatchObject([{ status: 'blocked', leaseUntil: null }])
      })
    })

    describe('loading', () => {
      const history = [
        { at: '2026-01-02T03:04:05.000Z', from: null, to: 'pending', by: 'finder', why: null },
        { at: '2026-01-02T04:04:05.000Z', from: 'pending', to: 'ready', by: 'boss', why: 'worth it' },
        { at: '2026-01-02T05:04:05.000Z', from: 'ready', to: 'in_progress', by: 'w1', why: null },
      ]
      const worked = keptTodo('worked on', 7, {
        status: 'in_progress',
        body: '## Findings\n\nas before',
        fields: { assigned_to: 'w1', claimed_at: history[2]!.at, tags: ['x'], finding_id: 'F', source_ref: 'r' },
        token: 3,
        history,
      })
      const fresh = keptTodo('fresh', 2, { fields: { source: 'audit' } })

      test('gives back what was given, and goes on numbering behind it', async () => {
        await store.load(kind, [worked, fresh])
        expect(await store.find(kind, {})).toEqual([
          { ...worked.fields, id: worked.id, token: 3, revision: 3, leaseUntil: null },
          { ...fresh.fields, id: fresh.id, token: 0, revision: 1, leaseUntil: null },
        ])
        const texts = await store.texts(kind, [worked.id, fresh.id])
        expect([texts.get(worked.id), texts.get(fresh.id)]).toEqual([worked.texts, fresh.texts])
        const told = await store.events({ of: { kind, id: worked.id } })
        expect(told.map(({ at, from, to, by, why }) => ({ at, from, to, by, why }))).toEqual(history)
        expect(told.map(({ kind: word, id, title, revision }) => [word, id, title, revision])).toEqual(
          history.map((_, index) => ['todo', worked.id, 'worked on', index + 1]),
        )
        expect((await add('next')).issue_id).toBe('008')
        await store.load(kind, [keptTodo('of old', 3)])
        expect((await add('next')).issue_id).toBe('009')
        expect((await add('next', { fields: { source: 'audit' } })).issue_id).toBe('003')
        const [held] = await store.insert(
          kind,
          [todoDraft('again', { fields: { finding_id: 'F', source_ref: 'r' } })],
          note,
        )
        expect(held).toMatchObject({ created: false, item: { id: worked.id } })
      })

      test('goes on as if it had been here all along', async () => {
        await store.load(kind, [worked])
        const done = { status: 'interrupted', resolution_reason: 'x' }
        const change = { id: worked.id, revision: 3, from: 'in_progress', token: 3, fields: done }
        expect(await store.save(kind, change, later)).toMatchObject({ revision: 4, token: 3, status: 'interrupted' })
        const told = await store.events({ of: { kind, id: worked.id } })
        expect(told.at(-1)).toMatchObject({ ...later, from: 'in_progress', to: 'interrupted', revision: 4 })
      })

      test('a taken id refuses all of them, and nothing is written', async () => {
        await store.load(kind, [fresh])
        const before = [await store.find(kind, {}), await store.events({})]
        const other = keptTodo('other', 2, { fields: { source: 'audit' }, body: 'other' })
        await refusedWith('move_refused', store.load(kind, [worked, other]))
        await refusedWith('move_refused', store.load(kind, [worked, worked]))
        expect([await store.find(kind, {}), await store.events({})]).toEqual(before)
        expect((await store.texts(kind, [worked.id])).size).toBe(0)
        expect(await bodyOf(fresh.id)).toBe(fresh.texts['body'])
        expect((await add('first')).issue_id).toBe('001')
      })
    })

    describe('removing', () => {
      test('takes out the named lists, their texts too, and says so of each item', async () => {
        const a = await add('a')
        const b = await add('b', { status: 'ready', fields: { source: 'audit' } })
        const kept = [await add('c', { fields: { session: 's2' } }), await add('d', { fields: { workflow: 'arc' } })]
        const seen = (await store.events({ last: 1 }))[0]!.seq
        expect((await store.remove(kind, { workflow: 'work', session: 's1' }, later)).count).toBe(2)
        expect(await store.find(kind, {})).toEqual(kept)
        expect([...(await store.texts(kind, [a.id, b.id, ...kept.map(({ id }) => id)])).keys()].toSorted()).toEqual(
          kept.map(({ id }) => id).toSorted(),
        )
        const told = (await store.events({ after: seen })).map(({ id, from, to, by, why }) => ({
          id,
          from,
          to,
          by,
          why,
        }))
        const { by, why } = later
        expect(told).toEqual([
          { id: a.id, from: 'pending', to: 'removed', by, why },
          { id: b.id, from: 'ready', to: 'removed', by, why },
        ])
        expect(await store.names(kind, 'session', { workflow: 'work' })).toEqual(['s2'])
        expect((await store.activity(kind, [a.id])).size).toBe(0)
      })

      test('never takes out everything, or part of a list', async () => {
        await add('a')
        await expect(store.remove(kind, {}, note)).rejects.toThrow()
        await expect(store.remove(kind, { title: 'a' }, note)).rejects.toThrow()
        expect(await ids()).toHaveLength(1)
      })
    })

    describe('telling', () => {
      test('of one item what happened to it, in order, from any number, in steps, and from the end', async () => {
        const [a, b] = [await add('a'), await add('b')]
        for (const [revision, to] of ['ready', 'wont_fix'].entries()) {
          const from = revision === 0 ? 'pending' : 'ready'
          const reason = { resolution: 'superseded', resolution_reason: 'x', resolved_by: 'x', resolved_at: later.at }
          const fields = { status: to, ...(to === 'wont_fix' ? reason : {}) }
          for (const { id } of [a, b]) await store.save(kind, { id, revision: revision + 1, from, fields }, later)
        }
        const of = { kind, id: a.id }
        const all = await store.events({ of })
        expect(all.map(({ id, from, to, by }) => [id, from, to, by])).toEqual([
          [a.id, null, 'pending', 'tester'],
          [a.id, 'pending', 'ready', 'boss'],
          [a.id, 'ready', 'wont_fix', 'boss'],
        ])
        expect(await store.events({ of, after: all[0]!.seq })).toEqual(all.slice(1))
        expect(await store.events({ of, after: all[0]!.seq, limit: 1 })).toEqual(all.slice(1, 2))
        expect(await store.events({ of, last: 2 })).toEqual(all.slice(1))
        expect(await store.events({ of: { kind, id: 'work/s1/review/999' } })).toEqual([])
        expect(await store.events({})).toHaveLength(6)
      })

      test('has nothing that it could not read', async () => {
        await add('a')
        expect(await store.unreadable(kind, { workflow: 'work' })).toEqual([])
      })
    })
  })
}

async function refusedWith(code: ProblemCode, answer: Promise<unknown>): Promise<void> {
  await expect(answer).rejects.toSatisfy(error => (error as Problem).code === code)
}
