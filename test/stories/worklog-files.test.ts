import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { editByHand } from '../support/files.ts'
import { scratch } from '../support/scratch.ts'
import { front, TODOS, Typist } from '../support/worklog.ts'

/** What the text for a worker's prompt says is to be written in a step: the lines below it that are not indented. */
function step(protocol: string, n: number): string {
  const [, text = ''] = new RegExp(`^${n}\\. .*\\n([^]*?)(?=^${n + 1}\\. |^If the log|(?![^]))`, 'm').exec(protocol)!
  return text.replace(/^ {3}.*\n/gm, '').trimEnd()
}

describe('a worker that has nothing but its file', () => {
  test('follows the protocol to the letter, and is told of like any other', async () => {
    const typist = new Typist(scratch())
    const given = ['--role', 'test', '--plan', 'plans/report.md', '--via', 'files']
    const { stdout: protocol } = await typist.seen('protocol', 'alice', ...given)
    expect(protocol).toContain(`create the file ${TODOS}/alice.md`)
    const path = typist.put('alice.md', `${step(protocol, 1)}\n`)
    const begun = step(protocol, 2).replace('N:', '7:').replace('SUBJECT', 'Escape the report')
    const steps = begun.replace('TIME', '2026-01-31T09:30:00Z').replace('- [ ] STEP', '- [ ] find it\n- [ ] mend it')
    editByHand(path, text => `${text}\n${steps}\n`)
    expect(await typist.list()).toMatchObject({
      worklogs: [{ worker: 'alice', role: 'test', status: 'active', plan_path: 'plans/report.md', tasks_total: 1 }],
      warnings: [],
    })
    editByHand(path, text => text.replace('[ ] find', '[x] find'))
    const ends = step(protocol, 4)
      .replace('TIME', '2026-01-31T09:52:00Z')
      .replace('`PATH`, `PATH`', '`src/report.ts`, `test/report.test.ts`')
      .replace('COMMAND', 'npm test')
    editByHand(path, text => text.replace('in_progress', 'completed').replace(/^(\*\*Claimed\*\*.*)$/m, `$1\n${ends}`))
    const decision = step(protocol, 5).replace('TAG', 'arch').replace('WHAT', 'At the exit').replace('WHY', 'of bytes')
    editByHand(path, text => `${text}\n### Decisions\n\n${decision}\n`)
    const again = begun.replace('7:', '8:').replace('in_progress', 'failed').replace('TIME', 'today')
    editByHand(path, text => `${text}\n${again}\n\n### Failure reason\n\nNo key.\n`)
    editByHand(path, text => text.replace('status: active', 'status: interrupted'))
    const { worklogs, tasks, warnings } = await typist.list('--worker', 'alice')
    expect([worklogs[0]!.status, warnings]).toEqual(['interrupted', []])
    expect(tasks).toEqual([
      {
        number: 7,
        subject: 'Escape the report',
        status: 'completed',
        claimed: '2026-01-31T09:30:00Z',
        completed: '2026-01-31T09:52:00Z',
        subtasks: [
          { text: 'find it', done: true },
          { text: 'mend it', done: false },
        ],
        files: ['src/report.ts', 'test/report.test.ts'],
        ward: 'passed: npm test',
        decisions: ['[arch] At the exit, because of bytes'],
        failure: null,
      },
      expect.objectContaining({ number: 8, status: 'failed', failure: 'No key.' }),
    ])
    expect(await typist.summary()).toMatchObject({ workers: 1, completed_tasks: 1, wards: 'claimed', warnings: [] })
  })

  test('may use verbs in between, which rewrite only the lines they are about', async () => {
    const typist = new Typist(scratch())
    const hand = [
      '\ufeff---',
      '# who it is',
      'worker:   "alice"',
      "role: 'implementation'   # for now",
      'mood: fine',
      'status: active',
      'plan_path: "plans/report.md"',
      '---',
      '',
      'Some words before.',
      '',
      '## Task #1: Escape the report ##',
      '',
      'Status: wip',
      'Claimed: this morning',
      '',
      '* [X] find it',
      '* [ ] mend it',
      '  with care',
      '',
      '```md',
      '- [ ] not a step',
      'status: active',
      '## Task #99: not a task',
      '```',
      '',
      '### Decisions:',
      '* at the exit,',
      '  because of bytes',
      '',
      '## Notes',
      '',
      'status: active is what it said.',
      '',
    ].join('\r\n')
    const path = typist.put('alice.md', hand)
    const now = () => readFileSync(path, 'utf8')
    const opened = await typist.opened('alice')
    expect(opened.worklog).toMatchObject({ tasks_total: 1, subtasks_total: 2, subtasks_completed: 1, decisions: 1 })
    expect(now()).toBe(hand)
    await typist.run('check', 'alice', '1', '2')
    const checked = hand.replace('* [ ] mend', '* [x] mend')
    expect(now()).toBe(checked)
    const decided = await typist.run('decide', 'alice', '1', 'No cache')
    expect(decided.task!.decisions).toEqual(['at the exit, because of bytes', 'No cache'])
    expect(now()).toBe(checked.replace('  because of bytes\r\n', '  because of bytes\r\n* No cache\r\n'))
    const completed = await typist.run('complete', 'alice', '1', '--file', 'a.ts')
    expect(completed.task).toMatchObject({ status: 'completed', claimed: 'this morning', files: ['a.ts'] })
    await typist.run('close', 'alice')
    expect(now()).toContain('\r\nmood: fine\r\nstatus: completed\r\n')
    expect(now().replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    // Every other line is there as it was, in its order.
    let at = 0
    const kept = hand.split('\r\n').filter(line => !/^(?:status: active|Status: wip|\* \[ \] mend it)$/.test(line))
    for (const line of kept) {
      at = now().indexOf(`${line}\r\n`, at)
      expect(at, line).toBeGreaterThanOrEqual(0)
    }
  })

  test('is warned of counters, which nobody believes', async () => {
    const typist = new Typist(scratch())
    const counters = 'tasks_completed: 40\nsubtasks_total: 7\n'
    typist.put('alice.md', `${front('alice', 'active', counters)}\n## Task #1: a\n\n**Status**: in_progress\n`)
    const { worklogs, warnings } = await typist.list()
    expect(worklogs).toMatchObject([{ tasks_completed: 0, tasks_total: 1, subtasks_total: 0 }])
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.map(({ file }) => file)).toEqual(warnings.map(() => `${TODOS}/alice.md`))
    expect(JSON.stringify(warnings)).toMatch(/tasks_completed.*subtasks_total/)
    await typist.run('complete', 'alice', '1')
    expect(typist.text('alice.md')).toContain(counters)
    expect(await typist.summary()).toMatchObject({ completed_tasks: 1, warnings })
  })

  test.each([
    ['as it is', (text: string) => text],
    ['with CRLF and a byte order mark', (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}`],
  ])('is warned of what is passed over, in the line of its key, %s', async (_, written) => {
    const typist = new Typist(scratch())
    const odd =
      '---\n# by hand\nrole: test\ntasks_completed: 40\n\nWorker: bob\nx-map:\n  status: inner\nstatus: on hold\nsubtask_count: 3\n---\n'
    typist.put('alice.md', written(`${odd}\n## Task #1: a\n`))
    typist.put('carol.md', written('---\nrole: test\nworker: carol\n---\n'))
    const { warnings } = await typist.list()
    expect(warnings.map(({ file, line, message }) => [file, line, message.split(':')[0]])).toEqual([
      [`${TODOS}/alice.md`, 4, 'tasks_completed'],
      [`${TODOS}/alice.md`, 6, 'worker'],
      [`${TODOS}/alice.md`, 9, 'status'],
      [`${TODOS}/alice.md`, 10, 'subtask_count'],
      [`${TODOS}/carol.md`, 1, 'status'],
    ])
    expect(await typist.summary()).toMatchObject({ warnings })
  })
})

describe('the end of a session', () => {
  test('changes nothing in the file of a killed worker but one word of its frontmatter', async () => {
    const body = '\nstatus: active\n\n```yaml\nstatus: active\n```\n\n## Task #1: status: active\n\nstatus: active\n'
    for (const verb of ['summary', 'sweep']) {
      const typist = new Typist(scratch())
      const texts = {
        killed: front('killed') + body,
        quoted: front('quoted').replace('active', '"active"  # still') + body,
        closed: front('closed', 'completed') + body,
        odd: front('odd', 'resting') + body,
      }
      for (const [name, text] of Object.entries(texts)) typist.put(`${name}.md`, text)
      const { interrupted } = await typist.run<{ interrupted: unknown[] }>(verb)
      expect(interrupted).toHaveLength(2)
      expect(typist.text('killed.md')).toBe(texts.killed.replace('status: active', 'status: interrupted'))
      expect(typist.text('quoted.md')!.replace(/^status: .*$/m, '')).toBe(texts.quoted.replace(/^status: .*$/m, ''))
      expect(typist.text('quoted.md')).toMatch(/^status: ["']?interrupted["']? +# still$/m)
      expect([typist.text('closed.md'), typist.text('odd.md')]).toEqual([texts.closed, texts.odd])
    }
  })
})
