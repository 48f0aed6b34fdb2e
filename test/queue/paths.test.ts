import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shared, writtenPath } from '../../src/queue/paths.ts'

test.each([
  ['src/parser', 'src/parser'],
  ['./src//parser/', 'src/parser'],
  ['src/parser/**', 'src/parser'],
  ['src/*/index.ts', 'src'],
  ['src\\parser', 'src/parser'],
  [' docs/a b.md ', 'docs/a b.md'],
])('%s is written as %s', (text, path) => {
  expect(writtenPath(text)).toBe(path)
})

test.each(['', '.', '/', '/etc', '..', 'src/../..', 'C:/x', 'src/../x', '**'])(
  '%s is no path below the folder',
  text => {
    expect(writtenPath(text)).toBeUndefined()
  },
)

const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 3 })

test('two paths are shared where one is the other, or lies in it; whoever asks', () => {
  fc.assert(
    fc.property(path, path, (one, other) => {
      const n = Math.min(one.length, other.length)
      const within = one.slice(0, n).join('/') === other.slice(0, n).join('/')
      const [left, right] = [one.join('/'), other.join('/')]
      expect(shared([left], [right]) !== undefined).toBe(within)
      expect(shared([right], [left]) !== undefined).toBe(within)
    }),
  )
})
