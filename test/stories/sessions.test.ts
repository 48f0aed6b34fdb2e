import { describe, expect, test } from 'vitest'
import { ENGINES } from '../support/backlog.ts'
import { answer } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

describe.each(ENGINES)('a session on %s', (_, engine) => {
  test('is the newest of its workflow, whichever list it began with', async () => {
    const cwd = scratch()
    const env = engine()
    const open = async (name: string, ...args: string[]) => {
      const typed = ['worklog', 'open', name, '--role', 'test', '--plan', 'p.md', ...args]
      return (await answer<{ worklog: { session: string } }>(typed, { cwd, env })).worklog.session
    }
    const add = async (...args: string[]) => {
      const typed = ['backlog', 'add', 'Escape it', '--source', 'review', ...args]
      return (await answer<{ todo: { session: string } }>(typed, { cwd, env })).todo.session
    }
    expect(await open('alice')).toBe('default')
    expect(await add()).toBe('default')
    expect(await open('alice', '--session', 'monday')).toBe('monday')
    expect(await add()).toBe('monday')
    expect(await add('--session', 'tuesday')).toBe('tuesday')
    expect(await open('bob')).toBe('tuesday')
    expect(await add('--session', 'wednesday', '--workflow', 'audit')).toBe('wednesday')
    expect(await add()).toBe('tuesday')
  })
})
