import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, ended, punchlist, refusal, start } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

describe('what is typed wrong is refused with a code and a hint, and nothing is written', () => {
  const long = 'x'.repeat(1_000_000)
  const file = (items: unknown) => JSON.stringify({ items })
  const cases: [what: string, args: string[], says: string | RegExp, input?: string][] = [
    ['an unknown command', ['plna'], 'Did you mean: punchlist plan'],
    ['an unknown verb', ['plan', 'compleat'], 'Did you mean: punchlist plan complete'],
    ['an unknown flag', ['plan', 'add', 'A', '--contxt', 'x'], 'Did you mean --context?'],
    ['a flag without its value', ['plan', 'add', 'A', '--context'], '--context'],
    ['a word too many', ['plan', 'complete', '1', 'two', 'words'], 'quotes'],
    ['an unknown status', ['plan', 'list', '--status', 'done'], /pending.*in_progress/],
    ['a status that is inherited', ['plan', 'list', '--status', 'constructor'], 'status'],
    ['no title', ['plan', 'add'], 'title'],
    ['an empty title', ['plan', 'add', ''], 'must not be empty'],
    ['a title of blanks', ['plan', 'add', '   '], 'must not be empty'],
    ['a title with an escape sequence', ['plan', 'add', 'a\u001b[31mb'], 'control characters'],
    ['a title with a C1 control', ['plan', 'add', 'a\u009bb'], 'control characters'],
    ['a title of two lines', ['plan', 'add', 'a\nb'], 'line breaks'],
    ['an order of 0', ['plan', 'add', 'A', '--order', '0'], '1 or more'],
    ['a negative order', ['plan', 'add', 'A', '--order=-1'], '1 or more'],
    ['an order that is not whole', ['plan', 'add', 'A', '--order', '1.5'], 'whole number'],
    ['an order that is no number', ['plan', 'add', 'A', '--order', 'first'], 'number'],
    ['no outcome', ['plan', 'complete', '1'], 'outcome'],
    ['an empty outcome', ['plan', 'complete', '1', ''], 'outcome'],
    ['a limit of 0', ['plan', 'list', '--limit', '0'], '1 or more'],
    ['a check with an open quote', ['plan', 'add', 'A', '--check', 'npm "test'], 'quotes'],
    ['an actor of two lines', ['plan', 'add', 'A', '--actor', 'a\nb'], '--actor'],
    ['a root that is not there', ['plan', 'list', '--root', 'nowhere'], 'not a folder'],
    ['a store of no kind', ['plan', 'list', '--store', 'mysql://x'], 'postgres://'],
    ['a file that is not there', ['plan', 'add', '--items', 'none.json'], 'none.json'],
    ['a batch that is not JSON', ['plan', 'add', '--items', '-'], 'not JSON', '{items'],
    ['a batch without items', ['plan', 'add', '--items', '-'], 'items', '{}'],
    ['a batch of none', ['plan', 'add', '--items', '-'], 'at least one', file([])],
    [
      'a batch with one bad item',
      ['plan', 'add', '--items', '-'],
      'items.1.title',
      file([{ title: 'A' }, { title: '' }]),
    ],
    ['a title of 1 MB', ['plan', 'add', '--items', '-'], 'at most 500', file([{ title: long }])],
    ['a context of 1 MB', ['plan', 'add', '--items', '-'], 'at most 32768', file([{ title: 'A', context: long }])],
    ['a lone surrogate', ['plan', 'add', '--items', '-'], 'Unicode', '{"items":[{"title":"a\\ud800"}]}'],
    ['a NUL', ['plan', 'add', '--items', '-'], 'control characters', file([{ title: 'A', context: 'a\0b' }])],
    ['a tool set that is not there', ['mcp', '--tools', 'plan,nonsense'], 'plan'],
    ['a port that is none', ['mcp', '--http', '--port', '70000'], 'port'],
  ]

  for (const [what, args, says, input] of cases) {
    test(what, async () => {
      const cwd = scratch()
      const { status, code, message, hint } = await refusal(args, input === undefined ? { cwd } : { cwd, input })
      expect([status, code]).toEqual([2, 'bad_input'])
      expect(`${message}\n${hint}`).toMatch(says)
      expect(message.length + hint.length).toBeLessThan(1000)
      expect(readdirSync(cwd)).toEqual([])
    })
  }

  test('everything wrong with an input is named at once', async () => {
    const input = JSON.stringify({ items: [{ title: '', order: 0 }, { context: 7 }] })
    const { details } = await refusal(['plan', 'add', '--items', '-'], { cwd: scratch(), input })
    const fields = (details['wrong'] as { field: string }[]).map(({ field }) => field)
    expect(fields).toEqual(['items.0.title', 'items.0.order', 'items.1.title', 'items.1.context'])
  })

  test('what is not there is not found: exit 4', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'A'], { cwd })
    for (const id of ['9', 'nonsense', '../../etc/passwd', "' OR 1=1 --"]) {
      expect(await refusal(['plan', 'complete', id, 'x'], { cwd })).toMatchObject({ status: 4, code: 'not_found' })
    }
  })

  test('text that begins with a dash can be given', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', '--context=-x', '--', '--json'], { cwd })
    const { items } = await answer<{ items: { title: string; context: string }[] }>(['plan', 'list'], { cwd })
    expect(items[0]).toMatchObject({ title: '--json', context: '-x' })
  })
})

describe('settings', () => {
  test('unknown keys and wrong values are all named', async () => {
    const cwd = scratch()
    writeFileSync(
      join(cwd, 'punchlist.json'),
      '{"stor": "files", "plan": {"completion": "maybe"}, "run": {"workers": 0}}',
    )
    const { status, message } = await refusal(['plan', 'list'], { cwd })
    expect(status).toBe(2)
    for (const key of ['stor', 'plan.completion', 'run.workers']) expect(message).toContain(key)
  })

  test('a file that is not JSON is named', async () => {
    const cwd = scratch()
    writeFileSync(join(cwd, 'punchlist.json'), '{')
    expect(await refusal(['plan', 'list'], { cwd })).toMatchObject({ status: 2, code: 'bad_input' })
  })

  test('init writes them once, and again changes nothing', async () => {
    const cwd = scratch()
    const first = await answer<{ made: string[] }>(['init'], { cwd })
    expect(first.made).toHaveLength(2)
    const again = await answer<{ made: string[] }>(['init'], { cwd })
    expect(again.made).toEqual([])
    expect((await punchlist(['plan', 'list'], { cwd })).status).toBe(0)
  })
})

describe('the workspace', () => {
  test('is found from any folder below it, and shared by all worktrees of a repository', async () => {
    const cwd = scratch()
    const git = (...args: string[]) => {
      const ran = spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        cwd,
        encoding: 'utf8',
      })
      if (ran.status !== 0) throw new Error(ran.stderr)
    }
    mkdirSync(join(cwd, 'main/deep/er'), { recursive: true })
    git('init', '-q', 'main')
    git('-C', 'main', 'commit', '-q', '--allow-empty', '-m', 'first')
    git('-C', 'main', 'worktree', 'add', '-q', '../other')
    await answer(['plan', 'add', 'A'], { cwd: join(cwd, 'main/deep/er') })
    const { items } = await answer<{ items: unknown[] }>(['plan', 'list'], { cwd: join(cwd, 'other') })
    expect(items).toHaveLength(1)
    expect(await answer<{ root: string }>(['status'], { cwd: join(cwd, 'other') })).toMatchObject({
      root: join(cwd, 'main'),
    })
  })

  test('is not another project that a .git file names, unless its repository knows the worktree', async () => {
    const [cwd, foreign] = [scratch(), scratch()]
    spawnSync('git', ['init', '-q'], { cwd })
    await answer(['plan', 'add', 'Mine'], { cwd })
    mkdirSync(join(cwd, '.git/worktrees/known'), { recursive: true })
    writeFileSync(join(cwd, '.git/worktrees/known/commondir'), '../..\n')
    writeFileSync(join(cwd, '.git/worktrees/known/gitdir'), `${join(cwd, 'gone/.git')}\n`)
    mkdirSync(join(foreign, 'record'))
    writeFileSync(join(foreign, 'record/commondir'), join(cwd, '.git'))
    writeFileSync(join(foreign, 'record/gitdir'), join(foreign, '.git'))
    for (const gitdir of ['record', join(cwd, '.git/worktrees/known')]) {
      writeFileSync(join(foreign, '.git'), `gitdir: ${gitdir}\n`)
      await answer(['plan', 'add', gitdir], { cwd: foreign })
      expect(await answer<{ root: string }>(['status'], { cwd: foreign })).toMatchObject({ root: foreign })
    }
    expect((await answer<{ items: unknown[] }>(['plan', 'list'], { cwd })).items).toHaveLength(1)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'is not in a repository of another user around the folder, nor in one that a .git file of theirs names',
    async () => {
      const [cwd, theirs] = [scratch(), scratch()]
      const [here, linked] = [join(cwd, 'mine'), join(cwd, 'linked')]
      const record = join(theirs, '.git/worktrees/linked')
      for (const folder of [join(cwd, '.git'), here, linked, record]) mkdirSync(folder, { recursive: true })
      writeFileSync(join(record, 'commondir'), '../..\n')
      writeFileSync(join(record, 'gitdir'), `${join(linked, '.git')}\n`)
      writeFileSync(join(linked, '.git'), `gitdir: ${record}\n`)
      const rootOf = async (folder: string) => (await answer<{ root: string }>(['status'], { cwd: folder })).root
      expect([await rootOf(here), await rootOf(linked)]).toEqual([cwd, theirs])
      for (const path of [join(cwd, '.git'), join(linked, '.git')]) chownSync(path, 65_534, 65_534)
      expect([await rootOf(here), await rootOf(linked)]).toEqual([here, linked])
    },
  )

  test('is the folder one names, by flag or environment', async () => {
    const [here, there] = [scratch(), scratch()]
    await answer(['plan', 'add', 'A', '--root', there], { cwd: here })
    const env = { PUNCHLIST_ROOT: there }
    expect((await answer<{ items: unknown[] }>(['plan', 'list'], { cwd: here, env })).items).toHaveLength(1)
    expect((await answer<{ items: unknown[] }>(['plan', 'list'], { cwd: here })).items).toHaveLength(0)
  })

  test('keeps its lists in the file one names', async () => {
    const cwd = scratch()
    const env = { PUNCHLIST_STORE: 'sqlite:lists/mine.db' }
    await answer(['plan', 'add', 'A'], { cwd, env })
    const there = join(cwd, 'lists/mine.db')
    const { items } = await answer<{ items: unknown[] }>(['plan', 'list', '--store', `sqlite:${there}`], {
      cwd: scratch(),
    })
    expect(items).toHaveLength(1)
  })
})

describe('output', () => {
  test('a reader that goes away early is no crash', async () => {
    const cwd = scratch()
    const items = Array.from({ length: 2000 }, (_, n) => ({ title: `item ${n} ${'x'.repeat(200)}` }))
    await answer(['plan', 'add', '--items', '-'], { cwd, input: JSON.stringify({ items }) })
    const program = join(import.meta.dirname, '../../bin/punchlist.js')
    for (const json of ['', '--json']) {
      const script = `set -o pipefail; '${process.execPath}' '${program}' plan list --all ${json} | head -c 10`
      const { status, stderr } = spawnSync('bash', ['-c', script], { cwd, encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
    }
  })

  test('a big answer arrives whole through a slow pipe', async () => {
    const cwd = scratch()
    const items = Array.from({ length: 2000 }, (_, n) => ({ title: `item ${n} ${'x'.repeat(200)}` }))
    await answer(['plan', 'add', '--items', '-'], { cwd, input: JSON.stringify({ items }) })
    expect((await answer<{ items: unknown[] }>(['plan', 'list', '--all'], { cwd })).items).toHaveLength(2000)
  })

  test('control characters that another program stored never reach the terminal', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'A'], { cwd })
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(join(cwd, '.punchlist/punchlist.db'))
    db.exec(
      `UPDATE turn_todos SET title = 'evil' || char(27) || '[2J' || char(155) || '31m' || char(10) || 'second line', owner = char(7)`,
    )
    db.exec(`UPDATE events SET why = char(27) || ']0;owned' || char(7)`)
    db.close()
    for (const args of [
      ['plan', 'list', '--status', 'all'],
      ['status'],
      ['log'],
      ['plan', 'start', '1'],
      ['plan', 'complete', '1', 'x'],
    ]) {
      const { stdout, stderr } = await punchlist(args, { cwd })
      // oxlint-disable-next-line no-control-regex -- their absence is the point
      expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    }
  })

  test('--help works on every level and shows an example; --version prints one', async () => {
    const cwd = scratch()
    const outer = await punchlist(['--help'], { cwd })
    const commands = [...outer.stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map(([, name]) => name!.split(' '))
    expect(commands.length).toBeGreaterThan(10)
    for (const words of [[], ['plan'], ...commands]) {
      const { status, stdout } = await punchlist([...words, '--help'], { cwd })
      expect([words.join(' '), status]).toEqual([words.join(' '), 0])
      expect(stdout).toContain('Example: punchlist')
    }
    expect((await punchlist(['--version'], { cwd })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    for (const args of [[], ['-h'], ['help']]) expect((await punchlist(args, { cwd })).stdout).toBe(outer.stdout)
    const plan = await punchlist(['plan', '--help'], { cwd })
    for (const args of [['plan'], ['plan', '-h'], ['help', 'plan']])
      expect(await punchlist(args, { cwd })).toEqual(plan)
    expect(await refusal(['nonsense', '--help'], { cwd })).toMatchObject({ status: 2 })
  })
})

describe('log', () => {
  test('tells every move: when, who, from, to and why; and goes on from a number', async () => {
    const cwd = scratch()
    await answer(['plan', 'add', 'A', '--actor', 'ann'], { cwd })
    await answer(['plan', 'start', '--actor', 'bob'], { cwd })
    await answer(['plan', 'complete', '1', 'all good', '--actor', 'bob'], { cwd })
    const { events } = await answer<{ events: Record<string, unknown>[] }>(['log'], { cwd })
    const told = events.map(({ by, kind, from, to, why }) => [by, kind, from, to, why])
    expect(told).toEqual([
      ['ann', 'turn', null, 'open', null],
      ['ann', 'plan_item', null, 'pending', null],
      ['bob', 'plan_item', 'pending', 'in_progress', null],
      ['bob', 'plan_item', 'in_progress', 'completed', 'all good'],
    ])
    const later = await answer<{ events: unknown[] }>(['log', '--after', String(events[1]!['seq'])], { cwd })
    expect(later.events).toEqual(events.slice(2))
    expect((await answer<{ events: unknown[] }>(['log', '--limit', '1'], { cwd })).events).toEqual(events.slice(3))
  })

  test('--follow tells what others do as it happens, and ends in order on Ctrl-C', async () => {
    const cwd = scratch()
    // Before there is anything to follow.
    const follower = start(['log', '--follow', '--json'], { cwd })
    const over = ended(follower)
    const seen: string[] = []
    const told = Promise.withResolvers<void>()
    follower.stdout!.on('data', (text: string) => {
      for (const line of text.split('\n').filter(Boolean)) {
        const { events } = JSON.parse(line) as { events: { to: string }[] }
        seen.push(...events.map(({ to }) => to))
      }
      if (seen.includes('completed')) told.resolve()
    })
    await answer(['plan', 'add', 'A'], { cwd })
    await answer(['plan', 'start'], { cwd })
    await answer(['plan', 'complete', '1', 'x'], { cwd })
    await told.promise
    expect(seen).toEqual(['open', 'pending', 'in_progress', 'completed'])
    follower.kill('SIGINT')
    expect(await over).toMatchObject({ status: 0, stderr: '' })
  })
})
