import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { scratch } from '../support/scratch.ts'

/** A person at a terminal who answers what is asked. */
async function typed(args: readonly string[], cwd: string, reply: string | undefined) {
  const seen: string[] = []
  const asked: string[] = []
  const terminal: Terminal = {
    out: text => void seen.push(text),
    err: text => void seen.push(text),
    print: text => void seen.push(text),
    colour: false,
    read: async () => '',
    interactive: true,
    ask: async question => {
      asked.push(question)
      return reply
    },
    interrupted: new AbortController().signal,
  }
  const status = await main(args, { terminal, cwd, env: { HOME: scratch(), PATH: '' } })
  return { status, seen: seen.join('\n'), asked }
}

test('a person sees the diff and is asked; only yes is yes', async () => {
  for (const no of ['', 'n', 'no', 'yup', undefined]) {
    const cwd = scratch()
    const { status, seen, asked } = await typed(['init', 'claude-code'], cwd, no)
    expect([status, asked.length]).toEqual([0, 1])
    expect(seen).toContain('+++ ')
    expect(seen).toContain('would be made')
    expect(readdirSync(cwd)).toEqual([])
  }
  for (const yes of ['y', 'Yes', ' y ']) {
    const cwd = scratch()
    expect((await typed(['init', 'claude-code'], cwd, yes)).asked).toHaveLength(1)
    expect(readdirSync(cwd).toSorted()).toEqual(['.claude', '.mcp.json'])
  }
})

test('nobody is asked with --yes or --dry-run, or where nothing is to be done', async () => {
  const cwd = scratch()
  expect((await typed(['init', 'claude-code', '--dry-run'], cwd, 'y')).asked).toEqual([])
  expect(readdirSync(cwd)).toEqual([])
  expect((await typed(['init', 'claude-code', '--yes'], cwd, 'n')).asked).toEqual([])
  expect(readdirSync(cwd).toSorted()).toEqual(['.claude', '.mcp.json'])
  expect((await typed(['init', 'claude-code'], cwd, 'n')).asked).toEqual([])
})

test('removing is asked about as well', async () => {
  const cwd = scratch()
  await typed(['init', 'claude-code', '--yes'], cwd, 'n')
  expect((await typed(['init', 'claude-code', '--remove'], cwd, 'n')).asked).toHaveLength(1)
  expect(readdirSync(cwd)).toHaveLength(2)
  await typed(['init', 'claude-code', '--remove'], cwd, 'y')
  expect(readdirSync(cwd)).toEqual([])
})
