import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from './support/scratch.ts'

test('the library as it is published makes its store, and finds it again', () => {
  const script = `
    import { open } from ${JSON.stringify(join(import.meta.dirname, '../dist/index.js'))}
    const list = await open({ root: '.' })
    await list.plan.create({ items: [{ title: process.argv[1] }] })
    const { items } = await list.plan.list({})
    console.log(JSON.stringify(items.map(({ title }) => title)))
    await list.close()`
  const cwd = scratch()
  const titles = (title: string) =>
    JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script, title], { cwd, encoding: 'utf8' }))
  expect(titles('One')).toEqual(['One'])
  expect(titles('Two')).toEqual(['One', 'Two'])
})
