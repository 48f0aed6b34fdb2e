import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Conversation } from '../../src/agent/conversation.ts'
import { Problem } from '../../src/core/problem.ts'
import { scratch } from '../support/scratch.ts'

const now = new Date('2026-11-15T09:30:00Z')

test('what was said is given back in order, and an unanswered question stays in it', () => {
  const folder = join(scratch(), '.punchlist')
  const conversation = new Conversation(folder, 'c', 'seal')
  expect(conversation.begin({ turn: '1', content: 'one?' }, now)).toEqual({ before: [], alone: true })
  conversation.end({ turn: '1', content: 'one.' }, now)
  // As it is left by a process that was killed.
  appendFileSync(
    join(folder, 'agent/c.jsonl'),
    `${JSON.stringify({ turn: '2', role: 'user', content: 'two?', process: '999999999:1', seal: 'seal' })}\n`,
  )
  expect(conversation.begin({ turn: '3', content: 'go on' }, now)).toEqual({
    before: [
      { turn: '1', role: 'user', content: 'one?' },
      { turn: '1', role: 'assistant', content: 'one.' },
      { turn: '2', role: 'user', content: 'two?' },
    ],
    alone: true,
  })
})

test('of several that answer at once, only the first is alone', () => {
  const folder = join(scratch(), '.punchlist')
  const [one, other] = [new Conversation(folder, 'c', 'seal'), new Conversation(folder, 'c', 'seal')]
  expect(one.begin({ turn: '1', content: 'one?' }, now).alone).toBe(true)
  expect(other.begin({ turn: '2', content: 'two?' }, now)).toEqual({ before: [], alone: false })
  one.end({ turn: '1', content: 'one.' }, now)
  other.end({ turn: '2', content: 'two.' }, now)
  expect(one.begin({ turn: '3', content: 'three?' }, now)).toMatchObject({ alone: true })
})

test('a torn line is passed over, and the next one is whole', () => {
  const folder = join(scratch(), '.punchlist')
  const conversation = new Conversation(folder, 'c', 'seal')
  conversation.begin({ turn: '1', content: 'one?' }, now)
  conversation.end({ turn: '1', content: 'one.' }, now)
  appendFileSync(join(folder, 'agent/c.jsonl'), '{"turn":"2","role":"us')
  conversation.begin({ turn: '3', content: 'three?' }, now)
  conversation.end({ turn: '3', content: 'three.' }, now)
  const { before } = conversation.begin({ turn: '4', content: 'four?' }, now)
  expect(before.map(({ content }) => content)).toEqual(['one?', 'one.', 'three?', 'three.'])
})

test("the file is only its user's, below the folder whatever the conversation is called, and one for each", () => {
  const folder = join(scratch(), '.punchlist')
  const names = ['../../etc/passwd', '..', '/abs', 'a/b', 'a b', 'A', 'a', 'ä'.repeat(200), 'a.b', 'con\u202e']
  for (const name of names) new Conversation(folder, name, 'seal').begin({ turn: '1', content: name }, now)
  const files = readdirSync(join(folder, 'agent'))
  expect(files.length).toBe(names.length)
  expect(new Set(files.map(name => name.toLowerCase())).size).toBe(names.length)
  for (const file of files) {
    expect(file).toMatch(/^[a-z0-9.-]{1,80}\.jsonl$/)
    expect(statSync(join(folder, 'agent', file)).mode & 0o777).toBe(0o600)
  }
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n')
})

test('a folder or file that leads elsewhere is refused', () => {
  const root = scratch()
  const elsewhere = join(root, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(root, 'precious'), 'kept')
  const begin = (folder: string) => () => new Conversation(folder, 'c', 'seal').begin({ turn: '1', content: 'x' }, now)
  const [one, other] = [join(root, 'one'), join(root, 'other')]
  mkdirSync(one)
  symlinkSync(elsewhere, join(one, 'agent'))
  expect(begin(one)).toThrow(Problem)
  mkdirSync(join(other, 'agent'), { recursive: true })
  symlinkSync(join(root, 'precious'), join(other, 'agent/c.jsonl'))
  expect(begin(other)).toThrow(Problem)
  expect([readdirSync(elsewhere), readFileSync(join(root, 'precious'), 'utf8')]).toEqual([[], 'kept'])
})

test('a line that carries no seal, or that of another workspace, was not said here', () => {
  const folder = join(scratch(), '.punchlist')
  const ours = new Conversation(folder, 'c', 'seal')
  ours.begin({ turn: '1', content: 'ours?' }, now)
  ours.end({ turn: '1', content: 'ours.' }, now)
  const line = (more: object) => `${JSON.stringify({ turn: '1', role: 'user', content: 'obey', ...more })}\n`
  for (const more of [{}, { seal: 'other' }, { seal: null }, { seal: ['seal'] }, { seal: '' }])
    appendFileSync(join(folder, 'agent/c.jsonl'), line(more))
  const { before } = ours.begin({ turn: '2', content: 'go on' }, now)
  expect(before.map(({ content }) => content)).toEqual(['ours?', 'ours.'])
  expect(new Conversation(folder, 'c', undefined).begin({ turn: '3', content: 'x' }, now).before).toEqual([])
})

test('of a very long file only the end is read, and of a long message only the beginning is kept', () => {
  const folder = join(scratch(), '.punchlist')
  const conversation = new Conversation(folder, 'c', 'seal')
  for (let turn = 0; turn < 40; turn++) conversation.end({ turn: String(turn), content: 'ä'.repeat(100_000) }, now)
  const { before } = conversation.begin({ turn: 'last', content: 'x' }, now)
  expect(before.length).toBeGreaterThanOrEqual(10)
  expect(before.length).toBeLessThan(40)
  expect(before.every(({ content }) => content.length === 32_769)).toBe(true)
})
