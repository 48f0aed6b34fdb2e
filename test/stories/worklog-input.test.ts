import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { frontmatterOf } from '../../src/core/yaml/frontmatter.ts'
import { nodeOf } from '../../src/core/yaml/value.ts'
import { workspaceOf } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'
import { cellsOf, type ForPullRequest, front, TODOS, Typist } from '../support/worklog.ts'

const OPEN = ['--role', 'implementation', '--plan', 'p.md']

describe('a name, a number or a text that cannot be', () => {
  test('is refused before anything is made', async () => {
    const typist = new Typist(scratch())
    const names = ['_summary', '../x', 'a b', '', 'a\u0308', 'NUL', 'x'.repeat(101)]
    for (const name of names) {
      const refused = await typist.refused('open', name, ...OPEN)
      expect([refused.status, refused.code, refused.hint], name).toEqual([
        2,
        'bad_input',
        'Correct name and send it again.',
      ])
      expect(refused.message, name).toContain('name: must be letters, digits, - and _')
    }
    const bad = [
      ['open', 'alice', ...OPEN, '--session', '../up'],
      ['task', 'alice', 'one', 'x'],
      ['task', 'alice', '-1', 'x'],
      ['check', 'alice', '1', '0'],
      ['pr', '--body', 'not-there.md'],
    ]
    for (const args of bad) {
      const refused = await typist.refused(...args)
      expect([refused.status, refused.code], args.join(' ')).toEqual([2, 'bad_input'])
      expect(refused.hint, args.join(' ')).not.toBe('')
    }
    const { status, stderr } = await typist.seen('open', 'a b', '--role', 'boss', '--plan', '')
    expect(status).toBe(2)
    for (const field of ['name', 'role', 'plan']) expect(stderr).toContain(`${field}:`)
    expect(readdirSync(typist.cwd)).toEqual([])
    // After two dashes nothing is an option.
    expect((await typist.run('open', ...OPEN, '--', '-')).worklog.path).toBe(`${TODOS}/-.md`)
  })

  test('is refused to a program in the same words, whatever it sends', async () => {
    const root = scratch()
    const list = await workspaceOf(root)
    try {
      const { worklog } = list
      const name = 'alice'
      await worklog.open({ name: 'x'.repeat(100), role: 'test', plan: 'p.md' })
      for (const wrong of ['_', '.', 'a/b', 'a.b', 'é', 'con', 'Com1', 'alice\n', '\u0000', ' alice']) {
        const opening = worklog.open({ name: wrong, role: 'test', plan: 'p.md' })
        await expect(opening, wrong).rejects.toMatchObject({ code: 'bad_input' })
      }
      const bad: [string, () => Promise<unknown>][] = [
        ['plan', () => worklog.open({ name, role: 'test', plan: 'a\nb' })],
        ['task', () => worklog.task({ name, task: 1.5, subject: 'x' })],
        ['task', () => worklog.task({ name, task: 2 ** 53, subject: 'x' })],
        ['subject', () => worklog.task({ name, task: 1, subject: ' ' })],
        ['subject', () => worklog.task({ name, task: 1, subject: 'x\ny' })],
        ['subject', () => worklog.task({ name, task: 1, subject: 'x'.repeat(301) })],
        ['subtask.0', () => worklog.task({ name, task: 1, subject: 'x', subtask: ['a\u001b[2J'] })],
        ['subtask', () => worklog.task({ name, task: 1, subject: 'x', subtask: Array<string>(201).fill('x') })],
        ['text', () => worklog.decide({ name, task: 1, text: ' \n ' })],
        ['text', () => worklog.decide({ name, task: 1, text: 'x'.repeat(4001) })],
        ['text', () => worklog.decide({ name, task: 1, text: '\ud800' })],
        ['file.0', () => worklog.complete({ name, task: 1, file: ['a\u0007b'] })],
        ['ward', () => worklog.complete({ name, task: 1, ward: 'a\nb' })],
        ['reason', () => worklog.fail({ name, task: 1, reason: '' })],
        ['limit', () => worklog.list({ limit: 0 })],
        ['worker', () => worklog.list({ worker: '../x' })],
        ['after', () => worklog.list({ after: '../x' })],
        ['name', () => worklog.protocol({ name: 'a b' })],
      ]
      for (const [field, call] of bad) {
        const hint = `Correct ${field} and send it again.`
        await expect(call(), String(call)).rejects.toMatchObject({ code: 'bad_input', hint })
      }
      expect(readdirSync(join(root, TODOS))).toEqual([`${'x'.repeat(100)}.md`])
    } finally {
      await list.close()
    }
  })
})

/** What nobody should write, and somebody will. */
const HOSTILE = [
  'a | b | c',
  'ends with a backslash \\',
  '\\| \\\\| | both',
  '</details><h1>out</h1>',
  '<img src=x onerror=alert(1)>',
  '<!-- /punchlist:work-session -->',
  '<!-- never closed',
  '[click](https://evil.example/a_b) and ![pixel](https://evil.example/p.png)',
  '[ref][1] <https://evil.example> https://evil.example www.evil.example',
  'Fixes #1, closes owner/repo#2, resolves GH-3 and fixes https://github.com/a/b/issues/4',
  '@everyone @org/team someone@example.com',
  '```',
  '`code` ~~~ **bold** _it_ ~~gone~~ $x$',
  '# heading',
  '---',
  '1. one',
  '- [ ] a box',
  '&lt;script&gt; &#60;b&#62;',
  ': {yaml: [}',
  '"quoted" \'twice\' #comment',
  '\u202eevil\u2066',
  '\ud83d\ude00'.repeat(99),
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
]
/** Those that cannot be sent, but can stand in a file. */
const CONTROLS = ['\u001b[2J\u001b]0;title\u0007', '\u009b31m', '\u0008']

function held(whole: string, workers: number): void {
  // The plan is a path, and kept as it is.
  const document = whole.replace(/^plan: .*$/m, '')
  expect(cellsOf(document)).toHaveLength(workers)
  for (const cells of cellsOf(document)) expect(cells).toHaveLength(5)
  // oxlint-disable-next-line no-control-regex -- finding them is the point
  expect(document).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  expect(document).not.toContain('ghp_abc')
}

/** As GitHub would look for it, backslashes and entities taken as they render. */
function inertFor(text: string): void {
  const [, decisions = '', issues = ''] = /### Key Decisions\n([^]*)### Known Issues\n([^]*)<!-- \//.exec(text)!
  const worked = `${decisions}${issues}`
  expect(worked).not.toMatch(/<(?!\/?b>)/)
  expect(worked).not.toMatch(/(?<!\\)[[\]`]/)
  const rendered = worked
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  expect(rendered).not.toMatch(/@[a-z]/i)
  expect(rendered).not.toMatch(/(?:#|\bGH-)\d/i)
  expect(rendered).not.toMatch(/:\/\/|www\./)
  // Every line is an item of ours.
  for (const line of worked.split('\n').filter(Boolean)) expect(line).toMatch(/^(?:- |\d+ of \d+ decisions$)/)
}

describe('what workers write', () => {
  test('through verbs breaks neither table, fold, YAML nor pull request, and calls nobody', async () => {
    const typist = new Typist(scratch())
    const list = await workspaceOf(typist.cwd)
    const { worklog } = list
    for (const [task, text] of HOSTILE.entries()) {
      const name = `w${String(task).padStart(2, '0')}`
      await worklog.open({ name, role: 'test', plan: text })
      await worklog.task({ name, task, subject: text, subtask: [text] })
      await worklog.decide({ name, task, text: `${text}\n${text}`, tag: 'arch' })
      if (task % 2) await worklog.complete({ name, task, ward: text, file: [text] })
      else await worklog.fail({ name, task, reason: `${text}\n\n${text}` })
      const { tasks } = await worklog.list({ worker: name })
      expect(tasks).toMatchObject([{ number: task, subject: text, subtasks: [{ text, done: false }] }])
      expect(tasks![0]).toMatchObject(task % 2 ? { ward: text, files: [text] } : { failure: `${text}\n\n${text}` })
      expect(tasks![0]!.decisions).toEqual([`[arch] ${text} ${text}`])
    }
    await list.close()
    await typist.summary()
    held(typist.text('_summary.md')!, HOSTILE.length)
    const { text } = await typist.run<ForPullRequest>('pr')
    held(text, HOSTILE.length)
    inertFor(text)
    expect(text.match(/<\/?details>/g)).toEqual(['<details>', '</details>'])
    expect(text.match(/<!-- .*? -->/g)).toHaveLength(2)
    const keys = frontmatterOf(typist.text('_summary.md')!)
    if ('message' in keys) throw new Error(keys.message)
    const plan = nodeOf(keys.entries.find(({ key }) => key === 'plan')!)
    expect('value' in plan && plan.value).toEqual(HOSTILE)
    expect(await typist.merged(`Before.\n\n${text}\nAfter.\n`)).toBe(`Before.\n\n${text}\nAfter.\n`)
  })

  test('by hand does not either, nor does it reach a terminal', async () => {
    const typist = new Typist(scratch())
    const all = [...HOSTILE, ...CONTROLS]
    all.forEach((text, n) => {
      const section = `## Task #${n}: ${text}\n\n**Status**: completed\n**Ward Result**: ${text}\n\n- [ ] ${text}\n`
      const decisions = `### Decisions\n\n- [dep] ${text}\n`
      const keys = front(`w${n}`, text).replace('implementation', () => JSON.stringify(text))
      typist.put(`w${n}.md`, `${keys}\n${section}\n${decisions}\n### Failure reason\n\n${text}\n`)
    })
    const shown = [await typist.seen('list'), await typist.seen('summary')]
    for (const n of all.keys()) shown.push(await typist.seen('list', '--worker', `w${n}`))
    for (const { status, stdout, stderr } of shown) {
      expect([0, 7]).toContain(status)
      // oxlint-disable-next-line no-control-regex -- as above
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    }
    const { workers, warnings } = await typist.summary()
    // Nobody is left out in silence.
    expect(new Set(warnings.map(({ file }) => file)).size + workers).toBeGreaterThanOrEqual(all.length)
    held(typist.text('_summary.md')!, workers)
    const { text } = await typist.run<ForPullRequest>('pr')
    held(text, workers)
    inertFor(text)
  })
})
