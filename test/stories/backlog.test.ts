import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Added, ENGINES, ids, type Listed, ready, type ToldTodo, Typist } from '../support/backlog.ts'
import { everywhere, punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

describe.each(ENGINES)('a backlog, from the command line, on %s', (engine, environment) => {
  beforeEach(() => {
    everywhere.env = environment()
  })
  afterEach(() => {
    everywhere.env = {}
  })

  test('keeps what is known of a finding, and shows it with body and history', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    writeFileSync(
      join(cwd, 'body.md'),
      '## Problem Statement\n\nTitles are not escaped.\n\n## Findings\n\nTwo places.\n',
    )
    const base = await typist.run<Added>('add', 'Base', '--source', 'work', '--status', 'ready')
    expect(base).toMatchObject({ created: true, todo: { id: 'work/001', status: 'ready', priority: 'p2' } })
    const known = ['--finding-id', 'SEC-1', '--source-ref', 'TOME.md', '--severity', 'high', '--depends-on', 'work/1']
    const lists = ['--tag', 'security', '--tag', 'web', '--file', 'src/a.ts', '--file', 'src/b.ts']
    const words = ['Escape titles: "all" of them', '--source', 'review', '--priority', 'p1', '--body', 'body.md']
    const { created, todo } = await typist.run<Added>('add', ...words, ...known, ...lists)
    const day = new Date().toISOString().slice(0, 10)
    expect(created).toBe(true)
    expect(todo).toEqual({
      id: 'review/001',
      title: 'Escape titles: "all" of them',
      path: 'tmp/work/default/todos/review/001-pending-p1-escape-titles-all-of-them.md',
      schema_version: 2,
      status: 'pending',
      priority: 'p1',
      issue_id: '001',
      source: 'review',
      source_ref: 'TOME.md',
      finding_id: 'SEC-1',
      finding_severity: 'high',
      tags: ['security', 'web'],
      dependencies: ['work/001'],
      files: ['src/a.ts', 'src/b.ts'],
      assigned_to: null,
      work_session: null,
      created: expect.any(String),
      updated: expect.any(String),
      resolution: null,
      resolution_reason: null,
      resolved_by: null,
      resolved_at: null,
      claimed_at: null,
      completed_by: null,
      completed_at: null,
      mend_fixer_claim: null,
      duplicate_of: null,
      related_todos: [],
      workflow_chain: [],
      execution_order: null,
      wave: null,
      workflow: 'work',
      session: 'default',
      token: 0,
      leaseUntil: null,
    })
    expect((todo as unknown as { created: string }).created >= day).toBe(true)
    expect(existsSync(join(cwd, todo.path))).toBe(engine === 'files')
    expect(existsSync(join(cwd, 'tmp'))).toBe(engine === 'files')

    const shown = await typist.show('review/1')
    expect(shown).toMatchObject(todo)
    expect(shown.body).toMatch(/^## Problem Statement\n\nTitles are not escaped\.\n\n## Findings\n\nTwo places\.\n/)
    expect(shown.body).toMatch(/## Work Log$/)
    expect(shown.history).toMatchObject([{ from: null, to: 'pending', by: 'tester', why: null }])
    const piped = await typist.piped<Added>('Just words.', 'add', 'From a pipe', '--source', 'review', '--body', '-')
    expect((await typist.show(piped.todo.id)).body).toMatch(/^## Problem Statement\n\nJust words\.\n/)
    // A number alone will do where one source only has it.
    expect((await typist.run('show', '2')).todo.id).toBe('review/002')
    const vague = await typist.refused('show', '1')
    expect(vague).toMatchObject({
      status: 2,
      details: { candidates: expect.arrayContaining(['review/001', 'work/001']) },
    })
    expect(await typist.refused('show', '9')).toMatchObject({ status: 4, code: 'not_found' })
  })

  test('has a finding once, whatever has become of it, and takes a batch as often as it is sent', async () => {
    const typist = new Typist(scratch())
    const finding = ['--source', 'review', '--finding-id', 'F1', '--source-ref', 'TOME.md']
    const first = await typist.run<Added>('add', 'One', ...finding)
    expect(await typist.run<Added>('add', 'One, in other words', ...finding)).toEqual({
      created: false,
      todo: first.todo,
    })
    await typist.run('dismiss', '1', '--as', 'false_positive', '--reason', 'cannot happen')
    expect(await typist.run<Added>('add', 'One', ...finding)).toMatchObject({
      created: false,
      todo: { id: 'review/001', status: 'wont_fix' },
    })
    const batch = ['F1', 'F2', 'F3', 'F2'].map(findingId => ({ title: findingId, findingId, sourceRef: 'TOME.md' }))
    const sent = await typist.add(...batch)
    expect(sent.results!.map(({ created, todo }) => [created, todo.id])).toEqual([
      [false, 'review/001'],
      [true, 'review/002'],
      [true, 'review/003'],
      [false, 'review/002'],
    ])
    const again = await typist.add(...batch)
    expect(again.created).toBe(false)
    expect(again.results!.map(({ todo }) => todo.id)).toEqual(sent.results!.map(({ todo }) => todo.id))
    // Half a name is none, and the same words are not the same finding.
    for (const half of [{ findingId: 'F9' }, { findingId: 'F9' }, { sourceRef: 'TOME.md' }, {}, {}]) {
      expect((await typist.add({ title: 'Half', ...half })).created).toBe(true)
    }
    expect((await typist.list()).todos).toHaveLength(8)
    // All or none: one bad item, and nothing of the batch is there.
    const bad = JSON.stringify({
      items: [
        { title: 'good', source: 'review' },
        { title: 'bad', source: '../up' },
      ],
    })
    const cut = await punchlist(['--json', 'backlog', 'add', '--items', '-'], { cwd: scratch(), input: bad })
    expect([cut.status, cut.stdout]).toEqual([2, ''])
    expect((await typist.refused('add', 'x', '--source', 'review', '--depends-on', 'review/99')).status).toBe(4)
    expect((await typist.list()).todos).toHaveLength(8)
  })

  test('is listed with what is open first, page by page, filtered and cut down', async () => {
    const typist = new Typist(scratch())
    const items = Array.from({ length: 60 }, (_, n) => ({
      title: `finding ${n + 1}`,
      priority: n === 4 ? 'p1' : 'p3',
      tags: n % 20 === 0 ? ['web'] : [],
      source: n === 59 ? 'audit' : 'review',
    }))
    await typist.add(...items)
    await typist.run('dismiss', 'review/1', '--as', 'wont_fix', '--reason', 'no')
    const first = await typist.list()
    expect([first.todos.length, first.more, first.cursor, first.session]).toEqual([
      50,
      10,
      ids(first).at(-1),
      'default',
    ])
    const second = await typist.list('--after', first.cursor!)
    expect([second.todos.length, second.more, second.cursor]).toEqual([10, 0, null])
    const all = await typist.list('--all')
    expect(ids(all)).toEqual([...ids(first), ...ids(second)])
    expect(ids(all).at(-1)).toBe('review/001')
    expect(new Set(ids(all)).size).toBe(60)
    const few = await typist.list('--limit', '3', '--status', 'open')
    expect([few.todos.length, few.more]).toEqual([3, 56])
    expect(ids(await typist.list('--status', 'wont_fix'))).toEqual(['review/001'])
    expect(ids(await typist.list('--priority', 'p1'))).toEqual(['review/005'])
    expect(ids(await typist.list('--source', 'audit'))).toEqual(['audit/001'])
    expect(ids(await typist.list('--tag', 'web'))).toEqual(['review/021', 'review/041', 'review/001'])
    const cut = await typist.list('--priority', 'p1', '--fields', 'title', '--fields', 'path')
    const path = 'tmp/work/default/todos/review/005-pending-p1-finding-5.md'
    expect(cut.todos).toEqual([{ id: 'review/005', title: 'finding 5', path }])
  })

  test('is searched in title, body and fields, every word of it', async () => {
    const typist = new Typist(scratch())
    await typist.add(
      { title: 'Escape titles', body: 'The report shows RAW html.', files: ['src/report.ts'] },
      { title: 'Slow start', body: '## Findings\n\nThe raw bytes are read twice.' },
      { title: 'Raw titles', source: 'audit', tags: ['security'] },
    )
    const found = async (query: string) => ids(await typist.run<Listed>('search', query)).toSorted()
    expect(await found('titles')).toEqual(['audit/001', 'review/001'])
    expect(await found('raw')).toEqual(['audit/001', 'review/001', 'review/002'])
    expect(await found('RAW Report')).toEqual(['review/001'])
    expect(await found('src/report.ts')).toEqual(['review/001'])
    expect(await found('security audit')).toEqual(['audit/001'])
    expect(await found('nowhere')).toEqual([])
    const bounded = await typist.run<Listed>('search', 'raw', '--limit', '1')
    expect([bounded.todos.length, bounded.more]).toEqual([1, 2])
  })

  test('is decided upon: approved, or dismissed for each of five reasons', async () => {
    const typist = new Typist(scratch())
    await typist.add('a', 'b', 'c', 'd', 'e', 'f')
    const approved = await typist.run('approve', '1', '--priority', 'p1', '--reason', 'it hurts')
    expect(approved.todo).toMatchObject({ status: 'ready', priority: 'p1' })
    expect((await typist.run('approve', '1')).todo).toEqual(approved.todo)
    for (const [n, resolution] of ['false_positive', 'wont_fix', 'out_of_scope', 'superseded'].entries()) {
      const dismissed = await typist.run('dismiss', String(n + 2), '--as', resolution, '--reason', 'because')
      expect(dismissed.todo).toMatchObject({
        status: 'wont_fix',
        resolution,
        resolution_reason: 'because',
        resolved_by: 'tester',
        resolved_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        duplicate_of: null,
      })
    }
    expect((await typist.show('2')).history.at(-1)).toMatchObject({ from: 'pending', to: 'wont_fix' })
    // Everything that is missing is named at once, and what may be done instead.
    const nothing = await typist.refused('dismiss', '6')
    expect(nothing).toMatchObject({ status: 5, code: 'move_refused' })
    expect(nothing.details).toMatchObject({
      missing: ['resolution', 'resolution_reason'],
      legal: ['ready', 'complete', 'wont_fix'],
    })
    expect(nothing.hint).toMatch(/--as .*--reason/)
    const half = await typist.refused('dismiss', '6', '--as', 'duplicate')
    expect(half).toMatchObject({ status: 5, details: { missing: ['resolution_reason', 'duplicate_of'] } })
    expect(await typist.refused('complete', '6')).toMatchObject({
      status: 5,
      details: { missing: ['resolution_reason'] },
    })
    expect((await typist.refused('dismiss', '6', '--as', 'fixed', '--reason', 'x')).status).toBe(2)
    expect(await typist.show('6')).toMatchObject({ status: 'pending', resolution: null, resolved_by: null })
  })

  test('leads a chain of duplicates to the one that stays, which knows of them all', async () => {
    const typist = new Typist(scratch())
    await typist.add('root', 'second', 'third', 'fourth')
    const duplicate = (id: string, of: string) => [
      'dismiss',
      id,
      '--as',
      'duplicate',
      '--of',
      of,
      '--reason',
      'the same',
    ]
    expect((await typist.run(...duplicate('2', '1'))).todo.duplicate_of).toBe('review/001')
    expect((await typist.run(...duplicate('3', 'review/2'))).todo.duplicate_of).toBe('review/001')
    expect((await typist.run(...duplicate('3', 'review/2'))).todo.duplicate_of).toBe('review/001')
    expect(await typist.show('1')).toMatchObject({ status: 'pending', related_todos: ['review/002', 'review/003'] })
    expect(await typist.refused(...duplicate('4', '4'))).toMatchObject({ status: 2, code: 'bad_input' })
    // Through the chain it would be its own duplicate too.
    expect(await typist.refused(...duplicate('1', '3'))).toMatchObject({ status: 2, code: 'bad_input' })
    expect(await typist.refused(...duplicate('4', '99'))).toMatchObject({ status: 4, code: 'not_found' })
    expect(await typist.show('4')).toMatchObject({ status: 'pending', duplicate_of: null })
  })

  test('is triaged ten at a time, and by a list of decisions of which a bad one does not keep the others', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    const titles = Array.from({ length: 12 }, (_, n) => ({
      title: `finding ${n + 1}`,
      priority: n === 11 ? 'p1' : 'p2',
    }))
    await typist.add(...titles)
    const waiting = await typist.run<Listed>('triage')
    expect(waiting).toMatchObject({ triaged: [], refused: [], more: 2 })
    expect(ids(waiting).slice(0, 3)).toEqual(['review/012', 'review/001', 'review/002'])
    expect(waiting.todos).toHaveLength(10)
    const decisions = [
      { id: 'review/001', decision: 'approve', priority: 'p1' },
      { id: '2', decision: 'defer', reason: 'next week' },
      { id: '3', decision: 'false_positive', reason: 'cannot happen' },
      { id: '4', decision: 'duplicate', reason: 'the same', of: '1' },
      { id: '5', decision: 'out_of_scope', reason: 'not ours' },
      { id: '6', decision: 'superseded' },
      { id: '99', decision: 'approve' },
      { id: '7', decision: 'superseded', reason: 'rewritten' },
    ]
    writeFileSync(join(cwd, 'decisions.json'), JSON.stringify({ decisions }))
    const decided = await typist.run<Listed>('triage', '--decisions', 'decisions.json')
    expect(decided).toMatchObject({
      triaged: [
        { id: 'review/001', decision: 'approve', status: 'ready' },
        { id: 'review/002', decision: 'defer', status: 'pending' },
        { id: 'review/003', decision: 'false_positive', status: 'wont_fix' },
        { id: 'review/004', decision: 'duplicate', status: 'wont_fix' },
        { id: 'review/005', decision: 'out_of_scope', status: 'wont_fix' },
        { id: 'review/007', decision: 'superseded', status: 'wont_fix' },
      ],
      refused: [
        { id: '6', code: 'move_refused', message: expect.stringContaining('resolution_reason') },
        { id: '99', code: 'not_found' },
      ],
      more: 0,
    })
    expect(ids(decided)).toHaveLength(7)
    expect(await typist.show('1')).toMatchObject({ priority: 'p1', related_todos: ['review/004'] })
    expect((await typist.show('2')).body).toContain('Deferred: next week')
    const unknown = JSON.stringify([{ id: '8', decision: 'perhaps' }])
    const bad = await punchlist(['--json', 'backlog', 'triage', '--decisions', '-'], { cwd, input: unknown })
    expect([bad.status, bad.stdout]).toEqual([2, ''])
  })

  test('makes a new todo of a finished one, once, each linked to the other', async () => {
    const typist = new Typist(scratch())
    await typist.add(ready('Leak', { priority: 'p1', tags: ['memory'], body: 'It grows.' }))
    expect(await typist.refused('reopen', '1')).toMatchObject({ status: 5, code: 'move_refused' })
    await typist.run('claim', '1')
    await typist.run('complete', '1', '--reason', 'closed the file')
    const reopened = await typist.run<Added>('reopen', '1', '--reason', 'it came back')
    expect(reopened).toMatchObject({
      created: true,
      todo: { id: 'review/002', status: 'pending', priority: 'p1', tags: ['memory'], related_todos: ['review/001'] },
    })
    expect(await typist.run<Added>('reopen', '1', '--reason', 'it came back')).toEqual({
      created: false,
      todo: reopened.todo,
    })
    expect(await typist.show('1')).toMatchObject({ status: 'complete', related_todos: ['review/002'] })
    expect((await typist.show('2')).body).toContain('It grows.')
  })

  test('keeps a work log, in which the same entry twice in a row is one', async () => {
    const typist = new Typist(scratch())
    await typist.add('Leak')
    const entry = ['log', '1', 'Looked at it\n## Status History', '--phase', 'research', '--learning', 'it is old']
    const logged = await typist.run(...entry)
    expect((await typist.run(...entry)).todo).toEqual(logged.todo)
    await typist.run('log', '1', 'Looked again')
    const { body, history } = await typist.show('1')
    expect(body.match(/^### .* - research$/gm)).toHaveLength(1)
    expect(body).toMatch(/\*\*By\*\*: tester\n\n\*\*Actions\*\*:\n- Looked at it\n/)
    expect(body).toMatch(/\*\*Learnings\*\*:\n- it is old/)
    expect(body.indexOf('Looked again')).toBeGreaterThan(body.indexOf('it is old'))
    expect(history).toHaveLength(1)
  })

  test('says what is next, or why nothing is', async () => {
    const typist = new Typist(scratch())
    const why = async () => {
      const { status, code, details, hint } = await typist.refused('next')
      expect([status, code]).toEqual([3, 'nothing_to_do'])
      expect(hint).toBeTruthy()
      return details['why']
    }
    expect(await why()).toBe('none')
    await typist.add('a', 'b')
    expect(await why()).toBe('none_triaged')
    await typist.run('approve', '1')
    expect((await typist.run('next')).todo).toMatchObject({ id: 'review/001', status: 'ready' })
    await typist.run('claim', '1')
    expect(await why()).toBe('all_claimed')
    await typist.run('block', '1', '--on', '2')
    expect(await why()).toBe('all_blocked')
    await typist.run('complete', '2', '--reason', 'was there already')
    await typist.run('unblock', '1')
    await typist.run('interrupt', '1', '--reason', 'lunch')
    expect(await why()).toBe('all_interrupted')
    await typist.run('resume', '1')
    const claimed = await typist.run('next', '--claim')
    expect(claimed.todo).toMatchObject({ id: 'review/001', status: 'in_progress', assigned_to: 'tester' })
    await typist.run('complete', '1', '--reason', 'done')
    expect(await why()).toBe('all_done')
    expect((await typist.refused('next', '--claim')).status).toBe(3)
  })

  test('gives out the most pressing first, and never what waits for something', async () => {
    const typist = new Typist(scratch())
    const low = ready('low', { priority: 'p3' })
    await typist.add(low, ready('middle'), 'not triaged', ready('high', { priority: 'p1' }))
    await typist.add(ready('highest, but waits', { priority: 'p1', dependsOn: ['review/002'] }))
    const claim = async () => (await typist.run('next', '--claim', '--as', 'ann', '--lease', '1h')).todo
    expect(await claim()).toMatchObject({ id: 'review/004', assigned_to: 'ann', token: 1 })
    expect(await claim()).toMatchObject({ id: 'review/002' })
    expect(await claim()).toMatchObject({ id: 'review/001' })
    expect((await typist.refused('next')).details['why']).toBe('all_blocked')
    await typist.with({ PUNCHLIST_ACTOR: 'ann' }).run('complete', '2', '--reason', 'done')
    expect(await claim()).toMatchObject({ id: 'review/005' })
  })

  test('shows who waits for whom', async () => {
    const typist = new Typist(scratch())
    await typist.add('a', 'alone')
    await typist.add({ title: 'b', dependsOn: ['1'] })
    await typist.add({ title: 'c', dependsOn: ['review/001', '3'], source: 'audit' })
    const graph = await typist.run<{
      todos: (ToldTodo & { dependsOn: string[]; blocks: string[] })[]
      cycles: string[][]
    }>('graph')
    expect(graph.cycles).toEqual([])
    const edges = Object.fromEntries(graph.todos.map(({ id, dependsOn, blocks }) => [id, { dependsOn, blocks }]))
    expect(edges).toEqual({
      'review/001': { dependsOn: [], blocks: expect.arrayContaining(['review/003', 'audit/001']) },
      'review/003': { dependsOn: ['review/001'], blocks: ['audit/001'] },
      'audit/001': { dependsOn: ['review/001', 'review/003'], blocks: [] },
    })
  })
})

describe('bad input is refused with a code and a hint, and leaves nothing behind', () => {
  const long = 'x'.repeat(301)
  const rows: [string, string[]][] = [
    ['an unknown verb', ['clam', '1']],
    ['no title', ['add', '--source', 'review']],
    ['an empty title', ['add', '', '--source', 'review']],
    ['a blank title', ['add', '  ', '--source', 'review']],
    ['a title that is too long', ['add', long, '--source', 'review']],
    ['a title with control characters', ['add', 'a\u001b[2Jb', '--source', 'review']],
    ['a title of two lines', ['add', 'a\nstatus: complete', '--source', 'review']],
    ['no source', ['add', 'a']],
    ['a source that leads elsewhere', ['add', 'a', '--source', '../../etc']],
    ['a source with capitals', ['add', 'a', '--source', 'Review']],
    ['a source that is a device', ['add', 'a', '--source', 'nul']],
    ['a session that leads elsewhere', ['add', 'a', '--source', 'review', '--session', '../up']],
    ['a session that is only dots', ['add', 'a', '--source', 'review', '--session', '..']],
    ['a session with a slash', ['add', 'a', '--source', 'review', '--session', 'a/b']],
    ['a session of two lines', ['add', 'a', '--source', 'review', '--session', 'a\nb']],
    ['a session that is too long', ['add', 'a', '--source', 'review', '--session', 's'.repeat(101)]],
    ['a session that no letter begins', ['sweep', '--session', '-x/..']],
    ['a workflow that leads elsewhere', ['add', 'a', '--source', 'review', '--workflow', '../work']],
    ['an unknown workflow', ['list', '--workflow', 'play']],
    ['an unknown priority', ['add', 'a', '--source', 'review', '--priority', 'p0']],
    ['a status nobody begins in', ['add', 'a', '--source', 'review', '--status', 'in_progress']],
    ['an unknown status', ['list', '--status', 'done']],
    ['an unknown resolution', ['dismiss', '1', '--as', 'boring', '--reason', 'x']],
    ['an empty reason', ['dismiss', '1', '--as', 'wont_fix', '--reason', ' ']],
    ['an id that is none', ['show', '../../etc/passwd']],
    ['an id with a source that leads elsewhere', ['claim', '../1']],
    ['a lease that is none', ['claim', '1', '--lease', 'soon']],
    ['a token that is none', ['complete', '1', '--reason', 'x', '--token', 'mine']],
    ['a body with a history of its own', ['add', 'a', '--source', 'review', '--body', '-']],
    ['a session that nobody named', ['sweep']],
    ['items that are not JSON', ['add', '--items', '-']],
  ]
  test.each(rows)('%s', async (_, args) => {
    const cwd = scratch()
    const input = 'text\n\n## Status History\n\n| a |\n'
    const { status, stdout, stderr } = await punchlist(['--json', 'backlog', ...args], { cwd, input })
    const { error } = JSON.parse(stderr) as { error: { code: string; hint: string } }
    expect([stdout, status, error.code]).toEqual(['', 2, 'bad_input'])
    expect(error.hint).toBeTruthy()
    expect(readdirSync(cwd)).toEqual([])
  })

  test('also what the environment says', async () => {
    const cwd = scratch()
    for (const env of [{ PUNCHLIST_SESSION: '../up' }, { PUNCHLIST_TOKEN: 'mine' }]) {
      const typist = new Typist(cwd, env)
      expect(await typist.refused('add', 'a', '--source', 'review')).toMatchObject({ status: 2, code: 'bad_input' })
    }
    expect(readdirSync(cwd)).toEqual([])
  })
})
