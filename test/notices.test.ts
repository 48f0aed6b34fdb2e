import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isFull, notices } from '../scripts/notices.ts'
import { scratch } from './support/scratch.ts'

const root = join(import.meta.dirname, '..')

/** A package as it lies in node_modules. */
function packageWith(manifest: object, files: Readonly<Record<string, string>> = {}): string {
  const folder = join(scratch(), 'one')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'one', version: '1.0.0', ...manifest }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

describe('the notices of a package', () => {
  test('are the standard text and its author, where it has no licence file', () => {
    const mit = notices([packageWith({ license: 'MIT', author: { name: 'Ann Author' } })])
    expect(mit).toContain('## one 1.0.0 (MIT)\n\nCopyright (c) Ann Author\n\nPermission is hereby granted')
    expect(isFull(mit, 'MIT')).toBe(true)
    const apache = notices([packageWith({ license: 'Apache-2.0', repository: { url: 'https://example.com/one' } })])
    expect(apache).toContain('Copyright (c) the authors of one (https://example.com/one)')
    expect(isFull(apache, 'Apache-2.0')).toBe(true)
  })

  test('have the standard text besides, where its file only refers to it', () => {
    const LICENSE = 'Copyright 2023 Ann.\n\nLicensed under the Apache License, Version 2.0.'
    const text = notices([packageWith({ license: 'Apache-2.0' }, { LICENSE })])
    expect(text).toContain(LICENSE)
    expect(text.match(/copyright (?:\(c\)|20)/gi)).toHaveLength(1)
    expect(isFull(text, 'Apache-2.0')).toBe(true)
  })

  test('are its own file and its NOTICE, where the file is the whole licence', () => {
    const LICENSE = `Copyright 2023 Ann\n\n${readFileSync(join(root, 'scripts/licences/MIT.txt'), 'utf8').trim()}`
    const text = notices([packageWith({ license: 'MIT' }, { LICENSE, NOTICE: 'With parts by Bob.' })])
    expect(text).toBe(`# What punchlist includes\n\n## one 1.0.0 (MIT)\n\n${LICENSE}\n\nWith parts by Bob.\n`)
  })

  test.each([{ license: 'GPL-3.0' }, { license: 'UNLICENSED' }, { license: 'toString' }, {}])(
    'fail the build for a licence that we do not know: %j',
    manifest => {
      expect(() => notices([packageWith(manifest)])).toThrow(/scripts\/licences/)
    },
  )
})

describe('the package that is published', () => {
  const built = readFileSync(join(root, 'dist/NOTICES.md'), 'utf8')
  const sections = built
    .split(/^## (?=\S+ \d+\.\d+\.\d+\S* \()/m)
    .slice(1)
    .map(section => {
      const [, name, license] = /^(\S+) \S+ \((.+)\)\n/.exec(section)!
      return { name: name!, license: license!, text: section.slice(section.indexOf('\n')) }
    })

  test('has the full licence of every package that it bundles, with whose it is', () => {
    expect(sections.length).toBeGreaterThan(10)
    for (const { name, license, text } of sections) {
      expect({ name, full: isFull(text, license) }).toEqual({ name, full: true })
      expect({ name, copyright: /copyright (?:\(c\) |20)\S+/i.test(text) }).toEqual({ name, copyright: true })
    }
  })

  test('leaves out none that the library names in its code', () => {
    const names = new Set(sections.map(({ name }) => name))
    const chunks = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter(file =>
      file.endsWith('.js'),
    )
    const named = chunks.flatMap(file => [
      ...readFileSync(join(root, 'dist', file), 'utf8').matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm),
    ])
    expect(named.length).toBeGreaterThan(0)
    expect([...new Set(named.map(([, name]) => name!))].filter(name => !names.has(name))).toEqual([])
  })

  test('contains them', () => {
    const packed = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: scratch() },
    })
    const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }]
    expect(files.map(({ path }) => path)).toContain('dist/NOTICES.md')
  })
})
