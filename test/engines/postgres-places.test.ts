import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Places } from '../../src/engines/postgres/places.ts'

test('a batch ends up where adding its drafts one by one would have put them', () => {
  const batch = fc.array(fc.option(fc.nat(12), { nil: undefined }), { maxLength: 12 })
  fc.assert(
    fc.property(fc.nat(6), batch, (there, drafts) => {
      const list = Array.from({ length: there }, (_, place) => `old ${place}`)
      const places = new Places(there)
      for (const [index, at] of drafts.entries()) {
        list.splice(at ?? list.length, 0, `new ${index}`)
        places.add(at)
      }
      const found: string[] = []
      for (let place = 0; place < there; place++) {
        found[place + places.moved.filter(step => step <= place).length] = `old ${place}`
      }
      for (const index of drafts.keys()) found[places.placeOf(index)] = `new ${index}`
      expect(found).toEqual(list)
    }),
  )
})
