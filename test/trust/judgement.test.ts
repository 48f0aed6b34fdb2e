import { resolve } from 'node:path'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../../src/continuation/settings.ts'
import {
  DECLARED,
  declarations,
  type Settings,
  settingsSchema,
  type UserSettings,
  userSettingsSchema,
  valueAt,
} from '../../src/settings.ts'
import { effective, itemsOf, shownValue } from '../../src/trust/judgement.ts'

const root = '/home/ann/project'
const none = () => false
const all = () => true

/** The dotted keys that a schema of objects has. */
function keysOf(schema: unknown, before = ''): string[] {
  const { wrapped, entries } = schema as { wrapped?: unknown; entries?: Record<string, unknown> }
  if (wrapped) return keysOf(wrapped, before)
  if (!entries) return [before]
  return Object.entries(entries).flatMap(([name, inner]) => keysOf(inner, before ? `${before}.${name}` : name))
}

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
const some = <T extends Record<string, unknown>>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  optional(fc.record(shape, { requiredKeys: [] }))
const few = fc.nat(120)
const path = fc.constantFrom('tmp', 'a/b', '../b', '/etc', '..', '../project/x', '..x', 'a/../../b')
const plan = some({ completion: fc.constantFrom('self' as const, 'evidence' as const, 'verified' as const) })
const continuation = some({
  enabled: fc.boolean(),
  countdownSeconds: few,
  toastDuration: few,
  gracePeriod: few,
  maxFruitless: few,
  maxUnshortened: few,
  maxInjections: few,
  skipAgents: fc.subarray(['plan', 'Planner', 'planner', 'other']),
})
const run = some({
  agent: fc.constantFrom('claude', 'codex'),
  workers: fc.integer({ min: 1, max: 64 }),
  lease: fc.constantFrom('15m', '2h'),
})
const folders = fc.record(
  {
    store: fc.oneof(
      fc.constantFrom('files', 'sqlite::memory:', 'postgres://h/d', 'postgresql://u:p@h/d'),
      path.map(to => `sqlite:${to}`),
    ),
    paths: some({ work: path, queue: path }),
    plan,
    wards: fc.array(fc.oneof(fc.string(), fc.record({ run: fc.string(), env: fc.constant(['CI']) })), { maxLength: 3 }),
    continuation,
    run,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Settings>
const users = fc.record(
  {
    plan,
    continuation,
    run,
    limits: some({
      workers: fc.integer({ min: 1, max: 64 }),
      maxFruitless: few,
      maxUnshortened: few,
      maxInjections: few,
    }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<UserSettings>

describe('the declarations', () => {
  test('every key of the schema has one, and no other', () => {
    const keys = keysOf(settingsSchema).filter(key => key !== '$schema')
    expect(keys.length).toBeGreaterThan(10)
    expect(Object.keys(DECLARED).toSorted()).toEqual(keys.toSorted())
  })

  test('the defaults are those of continuation', () => {
    const ours = Object.entries(DECLARED).filter(([key]) => key.startsWith('continuation.'))
    const defaults = ours.map(([key, declared]) => [key.replace('continuation.', ''), declared.default])
    expect(Object.fromEntries(defaults)).toEqual(DEFAULT_CONFIG)
  })

  test('a default has no effect', () => {
    for (const [, declared] of declarations()) {
      if (declared.default === undefined) continue
      expect(declared.effectOf(declared.default, { root, base: declared.default })).toBe('none')
    }
  })

  test('a value has no effect that is not declared', () => {
    fc.assert(
      fc.property(folders, users, (settings, user) => {
        for (const { what, effect } of itemsOf(settings, user, root)) {
          expect(Object.keys(DECLARED[what as keyof typeof DECLARED].effects)).toContain(effect)
        }
      }),
    )
  })

  test('the values tried here are values that the schemas take', () => {
    fc.assert(
      fc.property(folders, users, (settings, user) => {
        expect(v.is(settingsSchema, JSON.parse(JSON.stringify(settings)))).toBe(true)
        expect(v.is(userSettingsSchema, JSON.parse(JSON.stringify(user)))).toBe(true)
      }),
    )
  })
})

describe('what a value does', () => {
  test.each<[Settings, UserSettings, string[]]>([
    [{ store: 'files' }, {}, []],
    [{ store: 'sqlite::memory:' }, {}, []],
    [{ store: 'sqlite:data/list.db' }, {}, []],
    [{ store: 'sqlite:..list.db' }, {}, []],
    [{ store: 'sqlite:../list.db' }, {}, ['store outside']],
    [{ store: 'sqlite:/etc/list.db' }, {}, ['store outside']],
    [{ store: 'sqlite:/home/ann/project-2/list.db' }, {}, ['store outside']],
    [{ store: `sqlite:${root}/list.db` }, {}, []],
    [{ store: 'postgres://h/d' }, {}, ['store connects']],
    [{ paths: { work: 'a/../b', queue: 'a/../../b' } }, {}, ['paths.queue outside']],
    [{ wards: [] }, {}, []],
    [{ wards: ['npm test'] }, {}, ['wards runs']],
    [{ run: { agent: 'claude' } }, {}, ['run.agent runs']],
    [{ run: { agent: 'claude' } }, { run: { agent: 'claude' } }, []],
    [{ run: { agent: 'claude' } }, { run: { agent: 'codex' } }, ['run.agent runs']],
    [{ run: { workers: 2 } }, {}, ['run.workers loosens']],
    [{ run: { workers: 2 } }, { run: { workers: 2 } }, []],
    [{ run: { workers: 9 } }, { run: { workers: 2 }, limits: { workers: 2 } }, []],
    [{ run: { lease: '9d' } }, {}, []],
    [{ plan: { completion: 'verified' } }, { plan: { completion: 'evidence' } }, []],
    [{ plan: { completion: 'self' } }, {}, []],
    [{ plan: { completion: 'self' } }, { plan: { completion: 'evidence' } }, ['plan.completion loosens']],
    [{ continuation: { enabled: true } }, {}, []],
    [{ continuation: { enabled: true } }, { continuation: { enabled: false } }, ['continuation.enabled loosens']],
    [{ continuation: { maxInjections: 50 } }, {}, []],
    [{ continuation: { maxInjections: 51 } }, {}, ['continuation.maxInjections loosens']],
    [{ continuation: { maxInjections: 50 } }, { limits: { maxInjections: 9 } }, []],
    [
      { continuation: { maxInjections: 50 } },
      { continuation: { maxInjections: 9 } },
      ['continuation.maxInjections loosens'],
    ],
    [{ continuation: { skipAgents: ['PLAN', 'planner', 'more'] } }, {}, []],
    [{ continuation: { skipAgents: ['plan'] } }, {}, ['continuation.skipAgents loosens']],
  ])('%j of the folder, %j of the user', (settings, user, expected) => {
    expect(itemsOf(settings, user, root).map(({ what, effect }) => `${what} ${effect}`)).toEqual(expected)
  })
})

describe('what applies', () => {
  test('with nothing accepted, nothing has an effect', () => {
    fc.assert(
      fc.property(folders, users, (settings, user) => {
        expect(itemsOf(effective(settings, user, none, root), user, root)).toEqual([])
      }),
    )
  })

  test('with nothing accepted, the user without settings gets no more than the defaults', () => {
    fc.assert(
      fc.property(folders, settings => {
        const applied = effective(settings, {}, none, root)
        expect(applied.wards ?? []).toEqual([])
        expect(applied.run?.agent).toBeUndefined()
        expect(applied.run?.workers ?? 1).toBe(1)
        expect(applied.store ?? 'files').toMatch(/^(?:files|sqlite:.+)$/)
        const file = applied.store?.startsWith('sqlite:') ? applied.store.slice('sqlite:'.length) : 'x'
        for (const place of [file, applied.paths?.work ?? 'tmp', applied.paths?.queue ?? 'coordination']) {
          expect(resolve(root, place)).toMatch(/^\/home\/ann\/project\/./)
        }
        for (const key of ['maxFruitless', 'maxUnshortened', 'maxInjections'] as const) {
          expect(applied.continuation?.[key] ?? 0).toBeLessThanOrEqual(DEFAULT_CONFIG[key])
        }
      }),
    )
  })

  test('a value without an effect always survives, up to the limits', () => {
    fc.assert(
      fc.property(folders, users, (settings, user) => {
        const items = new Set(itemsOf(settings, user, root).map(({ what }) => what))
        const applied = effective(settings, user, none, root)
        for (const [key] of declarations()) {
          const value = valueAt(settings, key)
          if (value === undefined || items.has(key)) continue
          const kept = valueAt(applied, key)
          if (typeof value === 'number' && kept !== value) expect(Object.values(user.limits ?? {})).toContain(kept)
          else expect(kept).toEqual(value)
        }
      }),
    )
  })

  test('a stricter value always survives', () => {
    fc.assert(
      fc.property(users, fc.nat(3), (user, fewer) => {
        const most = Math.min(user.continuation?.maxFruitless ?? 3, user.limits?.maxFruitless ?? 3)
        const maxFruitless = Math.max(0, most - fewer)
        const settings: Settings = {
          plan: { completion: 'verified' },
          continuation: { enabled: false, maxFruitless },
          run: { workers: 1 },
        }
        expect(effective(settings, user, none, root)).toMatchObject(settings)
      }),
    )
  })

  test('what is accepted applies, and never exceeds the limits of the user', () => {
    fc.assert(
      fc.property(folders, users, (settings, user) => {
        const applied = effective(settings, user, all, root)
        expect(applied.wards).toEqual(settings.wards)
        expect(applied.store).toEqual(settings.store)
        expect(applied.run?.agent).toEqual(settings.run?.agent ?? user.run?.agent)
        const { workers = 64, maxInjections = Infinity } = user.limits ?? {}
        expect(applied.run?.workers ?? 1).toBeLessThanOrEqual(workers)
        expect(applied.continuation?.maxInjections ?? 50).toBeLessThanOrEqual(maxInjections)
      }),
    )
  })

  test('each item is accepted by itself', () => {
    const settings: Settings = { wards: ['npm test'], run: { agent: 'claude', workers: 8, lease: '1h' } }
    const applied = effective(settings, { run: { workers: 2 } }, ({ what }) => what === 'run.agent', root)
    expect(applied).toEqual({ run: { agent: 'claude', workers: 2, lease: '1h' } })
  })

  test('a limit below the default holds in a folder that sets nothing', () => {
    expect(effective({}, { limits: { maxInjections: 9 } }, none, root)).toEqual({ continuation: { maxInjections: 9 } })
    expect(effective({}, {}, none, root)).toEqual({})
  })
})

test.each([
  ['postgres://ann:secret@h:5432/d', 'postgres://ann:***@h:5432/d'],
  ['postgres://ann@h/d', 'postgres://ann@h/d'],
  ['postgres://h:5432/d', 'postgres://h:5432/d'],
  ['postgresql://:secret@h/d', 'postgresql://:***@h/d'],
  ['postgres://ann:se@cret@h/d', 'postgres://ann:***@h/d'],
  ['postgres://ann:se/secret@h/d', 'postgres://ann:***@h/d'],
  ['postgres://ann:secret@evil/d?application_name=@good', 'postgres://ann:***@evil/d?application_name=@good'],
  ['postgres://h/d?user=ann&password=secret&schema=x', 'postgres://h/d?user=ann&password=***&schema=x'],
  ['postgres://h/d?p%61ssword=secret', 'postgres://h/d?p%61ssword=***'],
  ['sqlite:../a:b@c', 'sqlite:../a:b@c'],
])('%s is shown as %s', (value, shown) => {
  expect(shownValue({ what: 'store', value, effect: 'connects' })).toBe(shown)
  expect(shownValue({ what: 'wards', value: ['a'], effect: 'runs' })).toEqual(['a'])
})
