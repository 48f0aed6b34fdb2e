import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import {
  checkedSlug,
  directoryName,
  isSlug,
  isTaskId,
  numbersIn,
  parentOf,
  readDirectoryName,
  readTaskId,
  slugOf,
  taskId,
} from '../../src/queue/names.ts'

describe('the name of a directory', () => {
  test.each([
    ['req_1234_yaml_migration', 'req_1234', 'yaml_migration'],
    ['req_1234_yaml-migration', 'req_1234', 'yaml-migration'],
    ['req_1234_YAML Migration.v2', 'req_1234', 'YAML Migration.v2'],
    ['req_1234_übersicht', 'req_1234', 'übersicht'],
    ['req_1234_u\u0308bersicht', 'req_1234', 'u\u0308bersicht'],
    ['req_0001_02_x', 'req_0001_02', 'x'],
    ['req_0001_02_03_x', 'req_0001_02_03', 'x'],
    ['req_0001_2026_report', 'req_0001', '2026_report'],
    ['req_0001_2_fast', 'req_0001', '2_fast'],
    ['req_0001_02_3_x', 'req_0001_02', '3_x'],
    ['req_123456_x', 'req_123456', 'x'],
  ])('%s has an id and a slug', (name, id, slug) => {
    expect(readDirectoryName(name)).toEqual({ id, slug })
    expect(directoryName({ id, slug })).toBe(name)
  })

  test.each([
    'req_0001',
    'req_0001_',
    'req_0001_02',
    'req_0001_02_03',
    'req_001_x',
    'REQ_0001_x',
    'req_0001x',
    'x',
    '',

    'req_0001_a/b',
    'req_0001_a\\b',
    'req_0001_a\nb',
    'req_0001_x ',
    'req_0001_ x',
    '.req_0001_x',
    'req_0001_\u202ex',
    `req_${'1'.repeat(16)}_x`,
  ])('%j is not that of a task', name => {
    expect(readDirectoryName(name)).toBeUndefined()
  })

  test('is that of one task only, whatever its slug', () => {
    const id = fc.tuple(
      fc.integer({ min: 1, max: 99_999 }),
      fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 4 }),
    )
    fc.assert(
      fc.property(
        id,
        fc.oneof(fc.string({ maxLength: 30 }), fc.stringMatching(/^[0-9_ ]{1,12}$/)),
        ([family, parts], title) => {
          const whole = parts.reduce((parent, part) => taskId(parent, part), taskId('', family))
          const slug = slugOf(title)
          expect(isSlug(slug)).toBe(true)
          expect(readDirectoryName(directoryName({ id: whole, slug }))).toEqual({ id: whole, slug })
          expect(isTaskId(whole)).toBe(true)
          expect(numbersIn(whole)).toEqual({ family, number: parts.at(-1) ?? family })
          expect(parentOf(whole)).toBe(
            parts
              .slice(0, -1)
              .reduce((parent, part) => taskId(parent, part), parts.length > 0 ? taskId('', family) : ''),
          )
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('a slug', () => {
  test.each([
    ['Convert the configs to YAML', 'convert_the_configs_to_yaml'],
    ['Überprüfung: Größe (2x)', 'uberprufung_gro_e_2x'],
    ['Ü', 'u'],
    ['U\u0308', 'u'],
    ['02 tests', 'n02_tests'],
    ['12', 'n12'],
    ['2026 report', '2026_report'],
    ['../../etc/passwd', 'etc_passwd'],
    ['日本語', 'task'],
    ['', 'task'],
    ['x'.repeat(300), 'x'.repeat(40)],
    [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
    ['CON', 'con'],
  ])('of the title %j is %s', (title, slug) => {
    expect(slugOf(title)).toBe(slug)
  })

  test.each([
    'a/b',
    '..',
    '.',
    '',
    'A',
    'a-b',
    'a__b',
    '_a',
    'a_',
    '02',
    '02_x',
    'a b',
    'ü',
    'u\u0308',
    'a\0',
    'a\n',
    'con.txt',
    'x'.repeat(300),
  ])('%j is refused, with the rule', slug => {
    const refused = (() => {
      try {
        checkedSlug(slug)
      } catch (error) {
        return error as Problem
      }
      return undefined
    })()
    expect(refused).toBeInstanceOf(Problem)
    expect(refused).toMatchObject({
      code: 'bad_input',
      hint: expect.stringMatching(/lower-case letters and digits.*60.*two digits/),
    })
    expect(refused!.message.length).toBeLessThan(200)
  })

  test.each(['a', 'yaml_migration', '2026_report', '2_fast', '123', 'con', 'x'.repeat(60)])(
    '%s is taken as it is',
    slug => {
      expect(checkedSlug(slug)).toBe(slug)
    },
  )
})

describe('an id', () => {
  test.each([
    ['req_0001', 'req_0001'],
    ['REQ_0001', 'req_0001'],
    ['#0001', 'req_0001'],
    ['#1', 'req_0001'],
    ['0001_02', 'req_0001_02'],
    ['#req_0001', 'req_0001'],
    ['req_0001_02_slug', 'req_0001_02'],
    ['req_12345_2026_x', 'req_12345'],
  ])('is read from %s', (text, id) => {
    expect(readTaskId(text)).toBe(id)
  })

  test.each(['', '#', 'x', 'req_', 'req_x', '1234_slug', '2026-01-25', 'req_0001_02_'])('is not read from %j', text => {
    expect(readTaskId(text)).toBeUndefined()
  })

  test('of a part counts to 99, and no deeper than a file name can be long', () => {
    expect(taskId('req_0001', 99)).toBe('req_0001_99')
    expect(() => taskId('req_0001', 100)).toThrow(/has 99 parts/)
    const deep = `req_0001${'_01'.repeat(57)}`
    expect(taskId(deep.slice(0, -3), 1)).toBe(deep)
    expect(() => taskId(deep, 1)).toThrow(/cannot become longer/)
  })
})
