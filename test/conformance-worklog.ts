import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Note } from '../src/core/event.ts'
import { amend, move } from '../src/core/move.ts'
import type { Problem, ProblemCode } from '../src/core/problem.ts'
import type { Query, Store } from '../src/core/store.ts'
import { worklog as kind } from '../src/worklogs/kind.ts'
import { keptWorklog, type WorklogDraft, worklogDraft } from './support/worklogs.ts'

const note: Note = { by: 'tester', at: '2026-01-02T03:04:05.000Z' }
const later: Note = { by: 'boss', at: '2026-01-03T03:04:05.000Z', why: 'looked at it' }
const S1 = { workflow: 'work', session: 's1' }

/** What every engine owes to kinds whose items bring their own ids and are told by a text. `open` as for `conformance`. */
export function worklogConformance(
  name: string,
  open: () => Promise<{ store: Store; again: () => Promise<Store> }>,
): void {
  describe(`worklogs in the ${name} engine`, () => {
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
    const add = async (worker: string, more: WorklogDraft = {}) =>
      (await store.insert(kind, [worklogDraft(worker, more)], note))[0]!.item
    const ids = async (query: Query = {}) => (await store.find(kind, query)).map(({ id }) => id)
    const bodyOf = async (id: string) => (await store.texts(kind, [id])).get(id)?.['body']
    const append = (one: Store, id: string, line: string) =>
      amend(one, kind, { id, ...note, texts: ({ body = '' }) => ({ body: body === '' ? line : `${body}\n${line}` }) })

    describe('opening', () => {
      test('keeps every field and the text as they were given, under the id that was given', async () => {
        const body =
          '## Task #1: α "quoted" | piped\n\n**Status**: in_progress\n\n- [ ] it\'s; DROP TABLE texts\n\n\ttabbed'
        const draft = worklogDraft('Rune-Smith_1', { body, fields: { role: 'test', plan_path: 'plans/a b: #1.md' } })
        const [added] = await store.insert(kind, [draft], note)
        expect(added).toEqual({
          created: true,
          item: {
            ...draft.fields,
            id: 'work/s1/Rune-Smith_1',
            identity: 'work/s1/Rune-Smith_1',
            title: 'Rune-Smith_1',
            status: 'active',
            owner: null,
            token: 0,
            leaseUntil: null,
            revision: 1,
          },
        })
        expect(await store.find(kind, { where: { id: added!.item.id } })).toEqual([added!.item])
        expect(await store.find(kind, { where: { identity: added!.item.id } })).toEqual([added!.item])
        expect(await bodyOf(added!.item.id)).toBe(body)
      })

      test('again gives back the one that is there, as it stands and with its text', async () => {
        const first = await add('ann', { body: 'first' })
        const done = await move(store, kind, { id: first.id, to: 'completed', ...later })
        const drafts = [worklogDraft('bob'), worklogDraft('ann', { body: 'second' }), worklogDraft('bob')]
        const added = await store.insert(kind, drafts, later)
        expect(added.map(({ created, item }) => [created, item.worker])).toEqual([
          [true, 'bob'],
          [false, 'ann'],
          [false, 'bob'],
        ])
        expect(added[1]!.item).toEqual(done)
        expect(await bodyOf(first.id)).toBe('first')
        expect(await ids()).toHaveLength(2)
      })

      test('by many at once makes one', async () => {
        const stores = await eight()
        for (const worker of ['ann', 'bob', 'cy']) {
          const answers = await Promise.all(
            stores.map((one, n) => one.insert(kind, [worklogDraft(worker, { body: `by ${n}` })], note)),
          )
          const made = answers.flatMap(([answer], n) => (answer!.created ? [n] : []))
          expect(made).toHaveLength(1)
          const [item] = await store.find(kind, { where: { worker } })
          expect(answers.map(([answer]) => answer!.item)).toEqual(answers.map(() => item))
          expect(await bodyOf(item!.id)).toBe(`by ${made[0]}`)
          expect(await store.events({ of: { kind, id: item!.id } })).toHaveLength(1)
        }
      })

      test('by many at once, each its own and in the same sessions, makes all of them', async () => {
        const stores = await eight()
        await Promise.all(
          stores.flatMap((one, n) =>
            Array.from({ length: 5 }, (_, i) =>
              one.insert(kind, [worklogDraft(`w${n}`, { fields: { session: `s${i}` } })], note),
            ),
          ),
        )
        expect(await ids()).toHaveLength(40)
        expect(await store.count(kind, { where: S1 })).toEqual({ active: 8 })
      })

      test('is for one session: the same worker elsewhere is another, and so is one spelt otherwise', async () => {
        await add('ann')
        const drafts = [
          worklogDraft('ann', { fields: { session: 's2' } }),
          worklogDraft('ann', { fields: { workflow: 'arc' } }),
          worklogDraft('Ann'),
        ]
        expect((await store.insert(kind, drafts, note)).map(({ created }) => created)).toEqual([true, true, true])
        expect(await ids()).toEqual(['work/s1/ann', 'work/s2/ann', 'arc/s1/ann', 'work/s1/Ann'])
      })
    })

    describe('finding', () => {
      test('filters by session, status and worker, in order of arrival and in pages, and counts', async () => {
        const [zoe, ann] = [await add('zoe'), await add('ann')]
        const elsewhere = await add('zoe', { fields: { session: 's2' } })
        const bob = await add('bob')
        await move(store, kind, { id: ann.id, to: 'completed', ...later })
        await move(store, kind, { id: bob.id, to: 'interrupted', ...later })
        expect(await ids({ where: S1 })).toEqual([zoe.id, ann.id, bob.id])
        expect(await ids({ where: { ...S1, worker: 'zoe' } })).toEqual([zoe.id])
        expect(await ids({ where: { worker: 'zoe' } })).toEqual([zoe.id, elsewhere.id])
        expect(await ids({ where: { ...S1, worker: ['ann', 'bob', 'nobody'] } })).toEqual([ann.id, bob.id])
        expect(await ids({ where: { ...S1, id: [zoe.id, bob.id] } })).toEqual([zoe.id, bob.id])
        expect(await ids({ where: S1, status: ['active'] })).toEqual([zoe.id])
        expect(await ids({ where: S1, status: ['completed', 'interrupted'] })).toEqual([ann.id, bob.id])
        expect(await ids({ limit: 2, after: zoe.id })).toEqual([ann.id, elsewhere.id])
        expect(await ids({ limit: 2, newest: true })).toEqual([bob.id, elsewhere.id])
        expect(await store.find(kind, { where: S1, fields: ['worker'] })).toEqual(
          [zoe, ann, bob].map(({ id, worker }) => ({ id, worker })),
        )
        expect(await store.count(kind, { where: S1 })).toEqual({ active: 1, completed: 1, interrupted: 1 })
        expect(await store.count(kind, { where: { workflow: 'arc' } })).toEqual({})
      })

      test('says which sessions there are, in the order in which they began', async () => {
        await add('a', { fields: { session: 'zulu' } })
        await add('b', { fields: { session: 'alpha' } })
        await add('c', { fields: { session: 'zulu' } })
        await add('d', { fields: { session: 'mike', workflow: 'arc' } })
        expect(await store.names(kind, 'session', { workflow: 'work' })).toEqual(['zulu', 'alpha'])
        expect(await store.names(kind, 'workflow', {})).toEqual(['work', 'arc'])
        expect(await store.names(kind, 'session', { workflow: 'audit' })).toEqual([])
        await expect(store.names(kind, 'worker', {})).rejects.toThrow('worker')
      })

      test('gives the texts of many at once, and of those only', async () => {
        const drafts = Array.from({ length: 300 }, (_, n) => worklogDraft(`w${n}`, { body: `text ${n}` }))
        const all = (await store.insert(kind, drafts, note)).map(({ item }) => item.id)
        const texts = await store.texts(kind, all)
        expect(all.map(id => texts.get(id))).toEqual(drafts.map(draft => draft.texts))
        expect([...(await store.texts(kind, [all[7]!, 'work/s1/nobody']))]).toEqual([[all[7], { body: 'text 7' }]])
        expect((await store.texts(kind, [])).size).toBe(0)
      })

      test('says when each was last written', async () => {
        const [ann, bob] = [await add('ann'), await add('bob')]
        const activity = await store.activity(kind, [ann.id, bob.id, 'work/s1/nobody'])
        expect([...activity.keys()].toSorted()).toEqual([ann.id, bob.id])
        expect([...activity.values()].every(at => Date.parse(at) > 0)).toBe(true)
      })

      test('has nothing that it could not read', async () => {
        await add('ann')
        expect(await store.unreadable(kind, S1)).toEqual([])
      })
    })

    describe('writing', () => {
      test('changes the text, fields and status together, under the revision it was decided on', async () => {
        const ann = await add('ann', { body: 'old' })
        const change = { id: ann.id, revision: 1, from: 'active', fields: {}, texts: { body: 'new "text"\n\n✓' } }
        expect(await store.save(kind, change, note)).toEqual({ ...ann, revision: 2 })
        expect(await bodyOf(ann.id)).toBe('new "text"\n\n✓')
        await refusedWith('changed_meanwhile', store.save(kind, { ...change, texts: { body: 'stale' } }, note))
        const both = { ...change, revision: 2, fields: { status: 'completed', role: 'test' }, texts: { body: 'end' } }
        const saved = await store.save(kind, both, later)
        expect(saved).toEqual({ ...ann, role: 'test', status: 'completed', revision: 3 })
        expect(await store.find(kind, {})).toEqual([saved])
        expect(await bodyOf(ann.id)).toBe('end')
        await refusedWith('not_found', store.save(kind, { ...change, id: 'work/s1/nobody' }, note))
      })

      test('of many rivals with the same revision one wins, with its text', async () => {
        const ann = await add('ann')
        const results = await Promise.allSettled(
          (await eight()).map((one, n) =>
            one.save(
              kind,
              { id: ann.id, revision: 1, from: 'active', fields: { role: `r${n}` }, texts: { body: `by r${n}` } },
              note,
            ),
          ),
        )
        const won = results.filter(result => result.status === 'fulfilled')
        expect(won).toHaveLength(1)
        expect(await store.find(kind, {})).toEqual([won[0]!.value])
        expect(await bodyOf(ann.id)).toBe(`by ${won[0]!.value.role}`)
      })

      test('many that add to one text at once lose nothing', async () => {
        const ann = await add('ann')
        const wanted = (await eight()).flatMap((one, n) =>
          Array.from({ length: 5 }, (_, i) => ({ one, line: `- ${n}.${i}` })),
        )
        await Promise.all(wanted.map(({ one, line }) => append(one, ann.id, line)))
        expect((await bodyOf(ann.id))!.split('\n').toSorted()).toEqual(wanted.map(({ line }) => line).toSorted())
        expect((await store.find(kind, {}))[0]!.revision).toBe(41)
      })

      test('several that one process writes at once are each their own', async () => {
        const all = await Promise.all(['ann', 'bob', 'cy', 'di'].map(worker => add(worker, { body: worker })))
        await Promise.all(all.flatMap(({ id }) => ['1', '2', '3'].map(line => append(store, id, line))))
        for (const { id, worker } of all) {
          const [first, ...lines] = (await bodyOf(id))!.split('\n')
          expect([first, lines.toSorted()]).toEqual([worker, ['1', '2', '3']])
        }
      })
    })

    describe('loading', () => {
      const history = [
        { at: '2026-01-02T03:04:05.000Z', from: null, to: 'active', by: 'ann', why: null },
        { at: '2026-01-02T04:04:05.000Z', from: 'active', to: 'active', by: 'ann', why: 'task 1' },
        { at: '2026-01-02T05:04:05.000Z', from: 'active', to: 'interrupted', by: 'boss', why: 'swept' },
      ]
      const ann = keptWorklog('ann', { status: 'interrupted', body: '## Task #1: a', token: 2, history })
      const bob = keptWorklog('bob', { fields: { role: null, plan_path: null } })

      test('gives back what was given, with everything that happened', async () => {
        await store.load(kind, [ann, bob])
        expect(await store.find(kind, {})).toEqual([
          { ...ann.fields, id: ann.id, token: 2, revision: 3, leaseUntil: null },
          { ...bob.fields, id: bob.id, token: 0, revision: 1, leaseUntil: null },
        ])
        expect((await store.texts(kind, [ann.id])).get(ann.id)).toEqual(ann.texts)
        const told = await store.events({ of: { kind, id: ann.id } })
        expect(told.map(({ at, from, to, by, why }) => ({ at, from, to, by, why }))).toEqual(history)
        const [held] = await store.insert(kind, [worklogDraft('ann', { body: 'again' })], note)
        expect(held).toMatchObject({ created: false, item: { id: ann.id, status: 'interrupted' } })
        await append(store, ann.id, 'more')
        expect(await bodyOf(ann.id)).toBe('## Task #1: a\nmore')
      })

      test('one that is there refuses all of them, and nothing is written', async () => {
        await store.load(kind, [bob])
        const before = [await store.find(kind, {}), await store.events({})]
        await refusedWith('move_refused', store.load(kind, [ann, keptWorklog('bob', { body: 'other' })]))
        await refusedWith('move_refused', store.load(kind, [ann, ann]))
        expect([await store.find(kind, {}), await store.events({})]).toEqual(before)
        expect((await store.texts(kind, [ann.id])).size).toBe(0)
        expect(await add('ann')).toMatchObject({ status: 'active' })
      })
    })

    describe('removing', () => {
      test('takes out one session, with the texts, and says so of each worker', async () => {
        const gone = [await add('ann', { body: 'x' }), await add('bob')]
        const kept = [
          await add('ann', { fields: { session: 's2' } }),
          await add('ann', { fields: { workflow: 'arc' } }),
        ]
        const seen = (await store.events({ last: 1 }))[0]!.seq
        expect((await store.remove(kind, S1, later)).count).toBe(2)
        expect(await store.find(kind, {})).toEqual(kept)
        expect(
          (
            await store.texts(
              kind,
              gone.map(({ id }) => id),
            )
          ).size,
        ).toBe(0)
        const told = (await store.events({ after: seen })).map(({ id, from, to, by }) => [id, from, to, by])
        expect(told).toEqual(gone.map(({ id }) => [id, 'active', 'removed', 'boss']))
        expect(await store.names(kind, 'session', { workflow: 'work' })).toEqual(['s2'])
        expect(await add('ann', { body: 'anew' })).toMatchObject({ status: 'active' })
        expect(await bodyOf(gone[0]!.id)).toBe('anew')
        await expect(store.remove(kind, {}, note)).rejects.toThrow()
        await expect(store.remove(kind, { worker: 'ann' }, note)).rejects.toThrow()
      })
    })

    describe('telling', () => {
      test('of one worklog what happened to it, its changes too, from any number and from the end', async () => {
        const [ann, bob] = [await add('ann'), await add('bob')]
        for (const { id } of [ann, bob]) {
          await append(store, id, 'x')
          await move(store, kind, { id, to: 'completed', ...later })
        }
        const of = { kind, id: ann.id }
        const all = await store.events({ of })
        expect(all.map(({ id, from, to, by, why }) => [id, from, to, by, why])).toEqual([
          [ann.id, null, 'active', 'tester', null],
          [ann.id, 'active', 'active', 'tester', null],
          [ann.id, 'active', 'completed', 'boss', 'looked at it'],
        ])
        expect(await store.events({ of, after: all[0]!.seq })).toEqual(all.slice(1))
        expect(await store.events({ of, after: all[0]!.seq, limit: 1 })).toEqual(all.slice(1, 2))
        expect(await store.events({ of, last: 2 })).toEqual(all.slice(1))
        expect(await store.events({ of: { kind, id: 'work/s1/nobody' } })).toEqual([])
        expect(await store.events({})).toHaveLength(6)
      })
    })
  })
}

async function refusedWith(code: ProblemCode, answer: Promise<unknown>): Promise<void> {
  await expect(answer).rejects.toSatisfy(error => (error as Problem).code === code)
}
