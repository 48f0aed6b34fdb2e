import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { frontmatterOf } from '../../src/core/yaml/frontmatter.ts'
import { nodeOf } from '../../src/core/yaml/value.ts'
import { accountOf } from '../../src/worklogs/file/account.ts'
import { type Assignment, protocolText } from '../../src/worklogs/protocol.ts'
import { hostile } from './hostile.ts'

const ALICE: Assignment = {
  worker: 'alice',
  workflow: 'work',
  session: '20261116-051200',
  path: 'tmp/work/20261116-051200/todos/alice.md',
  role: 'implementation',
  plan: 'plans/report.md',
  via: 'any',
}

/** As a value can be read: on one line, without what ends lines or moves a cursor. */
function oneLined(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .trim()
    .toWellFormed()
}

/** What a POSIX shell makes of the words of a line. */
function shellWords(line: string): string[] {
  return execFileSync('sh', ['-c', `for word in ${line}; do printf '%s\\0' "$word"; done`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

describe('the protocol for a prompt', () => {
  test.each(['cli', 'mcp', 'files'] as const)('via %s, it has seven steps and costs few tokens', via => {
    const text = protocolText({ ...ALICE, via })
    expect(text.match(/^\d\. /gm)).toEqual(['1. ', '2. ', '3. ', '4. ', '5. ', '6. ', '7. '])
    expect(text.length).toBeLessThan(2200)
    expect(text).toMatch(/^WORKLOG PROTOCOL \(mandatory\) for worker alice in session 20261116-051200\n/)
    expect(text).toMatch(/never stops the work\.\n$/)
  })

  test('with commands, every one of them can be pasted', () => {
    expect(protocolText({ ...ALICE, via: 'cli' }).match(/punchlist worklog .*/g)).toEqual([
      'punchlist worklog open alice --role implementation --plan plans/report.md --session 20261116-051200',
      "punchlist worklog task alice N 'SUBJECT' --subtask 'STEP' --subtask 'STEP' --session 20261116-051200",
      'punchlist worklog check alice N K --session 20261116-051200',
      "punchlist worklog complete alice N --file 'PATH' --ward 'RESULT' --session 20261116-051200",
      "punchlist worklog decide alice N 'WHAT, because WHY' --tag TAG --session 20261116-051200",
      "punchlist worklog fail alice N --reason 'WHY' --session 20261116-051200",
      'punchlist worklog close alice --session 20261116-051200',
    ])
  })

  test('with tools, every call is JSON once it is filled in', () => {
    const text = protocolText({ ...ALICE, workflow: 'reviews', via: 'mcp' })
    const calls = [...text.matchAll(/(worklog_\w+) (\{.*\})/g)].map(([, tool, input]) => {
      return [tool, JSON.parse(input!.replaceAll(/:[NK](?=[,}])/g, ':1'))] as const
    })
    expect(calls.map(([tool]) => tool)).toEqual(
      ['open', 'task', 'check', 'complete', 'decide', 'fail', 'close'].map(verb => `worklog_${verb}`),
    )
    for (const [, input] of calls) expect(input).toMatchObject({ name: 'alice', workflow: 'reviews' })
    expect(calls[0]![1]).toEqual({
      name: 'alice',
      role: 'implementation',
      plan: 'plans/report.md',
      workflow: 'reviews',
    })
  })

  test('by hand, what it shows is what is read', () => {
    const text = protocolText({ ...ALICE, via: 'files' })
    expect(text).toContain('create the file tmp/work/20261116-051200/todos/alice.md')
    const front = /^---\n[^]*?^---\n/m.exec(text)![0]
    expect(front).toBe('---\nworker: alice\nrole: implementation\nstatus: active\nplan_path: plans/report.md\n---\n')
    const begun = /^## Task #N[^]*?- \[ \] STEP\n/m.exec(text)![0].replace('#N', '#7')
    const lines = /^\*\*Completed[^]*?COMMAND\n/m.exec(text)![0].replace('COMMAND', 'npm test')
    const decision = /^- \[TAG\].*\n/m.exec(text)![0].replace('TAG', 'arch')
    const done = begun.replace('in_progress', 'completed').replace('[ ]', '[x]').replace('TIME\n', `TIME\n${lines}`)
    expect(accountOf(`${done}\n### Decisions\n\n${decision}`).sections).toEqual([
      {
        number: 7,
        subject: 'SUBJECT',
        status: 'completed',
        claimed: 'TIME',
        completed: 'TIME',
        subtasks: [{ text: 'STEP', done: true }],
        files: ['PATH', 'PATH'],
        ward: 'passed: npm test',
        decisions: ['[arch] WHAT, because WHY'],
        failure: null,
      },
    ])
  })

  test('for whoever comes, it has the commands first and then the file', () => {
    const text = protocolText(ALICE)
    const [commands, byHand] = text.split('With neither, keep the file by hand:\n')
    expect(commands).toContain('punchlist worklog close alice')
    expect(commands).toContain('worklog_open')
    expect(byHand).toContain('plan_path: plans/report.md')
  })

  test('says what is to be chosen where it was not told', () => {
    for (const via of ['cli', 'mcp', 'files'] as const) {
      const text = protocolText({ ...ALICE, role: undefined, plan: undefined, via })
      expect(text).toContain('ROLE: implementation or test. PLAN: path of the plan you work on.')
      expect(text).toMatch(/role\W+ROLE/)
      expect(text).toMatch(/plan\w*\W+PLAN/)
    }
  })

  test('names that a shell or YAML takes for something else are quoted', () => {
    const dashed = protocolText({ ...ALICE, worker: '-x', root: '/a b', via: 'cli' })
    expect(dashed).toContain("punchlist worklog close --session 20261116-051200 --root '/a b' -- -x\n")
    expect(protocolText({ ...ALICE, plan: '--x', via: 'cli' })).toContain(' --plan=--x --session ')
    const word = protocolText({ ...ALICE, worker: 'no', plan: '1e3', path: '/a b/no.md', via: 'files' })
    expect(word).toContain('worker: "no"\n')
    expect(word).toContain('plan_path: "1e3"\n')
    expect(word).toContain('create the file "/a b/no.md"')
  })

  test('what comes from outside is one quoted value in a shell, in JSON and in YAML, and no line of its own', () => {
    fc.assert(
      fc.property(hostile, plan => {
        const lines = (via: Assignment['via'], value: string) =>
          protocolText({ ...ALICE, plan: value, via }).split('\n')
        for (const via of ['cli', 'mcp', 'files', 'any'] as const) {
          expect(lines(via, plan).length).toBe(lines(via, 'x').length)
          expect(lines(via, plan).filter((line, n) => line !== lines(via, 'x')[n]).length).toBeLessThanOrEqual(
            via === 'any' ? 2 : 1,
          )
        }
        const wanted = oneLined(plan)
        const [, input] = /worklog_open (\{.*\})$/m.exec(lines('mcp', plan).join('\n'))!
        expect(JSON.parse(input!)).toMatchObject({ plan: wanted })
        const [front] = /^---\n[^]*?^---\n/m.exec(lines('files', plan).join('\n'))!
        const found = frontmatterOf(front)
        if ('message' in found) throw new Error(found.message)
        expect(found.entries.map(({ key }) => key)).toEqual(['worker', 'role', 'status', 'plan_path'])
        expect(nodeOf(found.entries[3]!)).toMatchObject({ value: wanted === '' ? null : wanted })
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(hostile, plan => {
        const [line] = /punchlist worklog open .*$/m.exec(protocolText({ ...ALICE, plan, via: 'cli' }))!
        const words = shellWords(line)
        const value = words.find(word => word.startsWith('--plan='))?.slice(7) ?? words[words.indexOf('--plan') + 1]
        expect(value).toBe(oneLined(plan))
        expect(words.at(-1)).toBe('20261116-051200')
      }),
      { numRuns: 60 },
    )
  })
})
