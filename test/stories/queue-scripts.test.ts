import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, ended } from '../support/cli.ts'
import { path, type Recovery, Typist } from '../support/queue.ts'
import { Rivals } from '../support/queue-rivals.ts'
import { scratch } from '../support/scratch.ts'

/** Runs a script in the folder of the queue, as the protocol's own text has it. */
const sh = (cwd: string, script: string) =>
  execFileSync('sh', ['-ec', script], { cwd: join(cwd, 'coordination'), encoding: 'utf8' })

const names = (cwd: string, state: string) => {
  const folder = join(cwd, 'coordination', state)
  return existsSync(folder) ? readdirSync(folder).toSorted() : []
}

const CLAIM = `
  mv "to_execute/$TASK_DIR" "in_progress/$TASK_DIR"
  touch "in_progress/$TASK_DIR/\${TASK_DIR%%_*}_$(date +%Y%m%dT%H%M%S)_started"`
const COMPLETE = `
  touch "in_progress/$TASK_DIR/\${TASK_DIR%%_*}_$(date +%Y%m%dT%H%M%S)_completed"
  mv "in_progress/$TASK_DIR" "completed/$TASK_DIR"`
const ERROR = `
  printf '# Error Report\\n**Timestamp:** %s\\n**Error Type:** build\\n\\n## What Happened\\nIt broke.\\n' "$(date -Iseconds)" \\
    > "in_progress/$TASK_DIR/error_report.md"
  mv "in_progress/$TASK_DIR" "error/$TASK_DIR"`
const on = (directory: string, script: string) => `TASK_DIR=${directory}\n${script}`

describe('a shell script beside punchlist', () => {
  test('ends a claim by moving its task back: the token is not good again when a script claims the task', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A'])
    await typist.claim('w3')
    sh(cwd, 'rm in_progress/req_0001_a/*_started; mv in_progress/req_0001_a to_execute/')
    expect(await typist.show('1')).toMatchObject({ state: 'to_execute', owner: null })
    sh(cwd, on('req_0001_a', CLAIM))
    expect(await typist.show('1')).toMatchObject({ state: 'in_progress', owner: null, leaseUntil: null })
    expect(await typist.refused('complete', '1', '--token', '1')).toMatchObject({ status: 6, code: 'lease_lost' })
    sh(cwd, on('req_0001_a', COMPLETE))
    expect(await typist.show('1')).toMatchObject({ state: 'completed', owner: null })
  })

  test('adds, claims, reports, completes and fails, and the log tells what moved, from where', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', { title: 'B', dependsOn: ['#1'] }, 'C'])
    sh(
      cwd,
      `mkdir .building; printf '%s\\n' '# Request #0041: By hand' '' '**Type:** Research' '**Priority:** URGENT' \\
         '**Posted:** 2026-01-25T14:30:22+01:00' '' '## Task Description' 'Look.' '' '## Expected Response' 'An answer.' \\
         > .building/req_0041_by_hand.md
       mv .building to_execute/req_0041_by_hand`,
    )
    expect(await typist.show('41')).toMatchObject({
      state: 'to_execute',
      priority: 'URGENT',
      posted: '2026-01-25T13:30:22.000Z',
    })
    sh(cwd, on('req_0041_by_hand', CLAIM))
    const claimed = await typist.show('41')
    expect(claimed).toMatchObject({ state: 'in_progress', owner: null, leaseUntil: null, token: 0 })
    expect(claimed.startedAt).toEqual(expect.any(String))
    expect(await typist.refused('claim', '41', '--worker', 'w1')).toMatchObject({
      status: 5,
      hint: expect.stringContaining('punchlist queue return req_0041'),
    })
    sh(
      cwd,
      `printf '# Checkpoint 001\\n**Status:** awaiting_input\\n\\n## Summary\\nHalf.\\n\\n## Needs\\nA key.\\n' \\
         > in_progress/req_0041_by_hand/checkpoint_001.md`,
    )
    expect((await typist.list('--waiting')).tasks).toMatchObject([{ id: 'req_0041', checkpoints: 1, waiting: true }])
    await typist.run('reply', '41', 'the key')
    expect(sh(cwd, 'cat in_progress/req_0041_by_hand/checkpoint_001_reply.md')).toContain('the key')
    sh(cwd, on('req_0041_by_hand', COMPLETE))
    expect(await typist.show('41')).toMatchObject({ state: 'completed', finishedAt: expect.any(String) })
    // What a script completes frees what waited for it.
    sh(cwd, on('req_0001_a', `${CLAIM}${COMPLETE}`))
    expect((await typist.claim('w1')).id).toBe('req_0002')
    sh(cwd, on('req_0003_c', `${CLAIM}${ERROR}`))
    expect(await typist.show('3')).toMatchObject({ state: 'error', texts: { 'error_report.md': expect.any(String) } })
    await typist.run('retry', '3')
    expect(names(cwd, 'to_execute')).toEqual(['req_0003_c'])
    expect(await typist.claim('w1')).toMatchObject({ id: 'req_0003', token: expect.any(Number) })
    // Numbers that scripts have used are not given again.
    expect((await typist.add(['next']))[0]!.id).toBe('req_0042')
    const told = (await typist.log()).filter(({ by }) => by === 'someone').map(({ id, why }) => `${id} ${why}`)
    for (const part of [
      /^req_0041 found in to_execute, seen \d{4}-/,
      /^req_0041 moved from to_execute to in_progress by another program, seen \d{4}-/,
      /^req_0041 moved from in_progress to completed by another program, seen/,
      /^req_0001 moved from to_execute to completed by another program, seen/,
      /^req_0003 moved from to_execute to error by another program, seen/,
    ])
      expect(told).toContainEqual(expect.stringMatching(part))
  })

  test('moves what punchlist gave out: the worker’s report finds it where it is', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B'])
    await typist.claim('w1')
    await typist.claim('w1')
    sh(cwd, on('req_0001_a', COMPLETE))
    expect((await typist.run('complete', '1', '--token', '1')).task.state).toBe('completed')
    expect(path(await typist.show('1'))).toEqual(['to_execute', 'in_progress', 'completed'])
    sh(cwd, 'mv in_progress/req_0002_b to_execute/req_0002_b')
    const { token } = await typist.claim('w2')
    expect(token).toBeGreaterThan(1)
    expect((await typist.refused('complete', '2', '--token', '1')).status).toBe(6)
    await typist.run('complete', '2', '--token', String(token))
    expect(names(cwd, 'completed')).toEqual(['req_0001_a', 'req_0002_b'])
  })

  test('leaves things half done; recover finishes or undoes each, and says so', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B', 'C', 'D', 'E'])
    sh(cwd, on('req_0001_a', 'mv to_execute/$TASK_DIR in_progress/$TASK_DIR'))
    sh(cwd, on('req_0002_b', `${CLAIM}\ntouch in_progress/$TASK_DIR/req_0002_20260125T143022_completed`))
    sh(cwd, on('req_0003_c', `${CLAIM}\nsleep 0.02; echo broken > in_progress/$TASK_DIR/error_report.md`))
    sh(cwd, on('req_0004_d', `${CLAIM}\ntouch in_progress/$TASK_DIR/req_0004_20260101T000000_started`))
    sh(cwd, on('req_0005_e', CLAIM))
    const old = new Date(Date.now() - 3_600_000)
    const quiet = join(cwd, 'coordination/in_progress/req_0005_e')
    for (const name of [...readdirSync(quiet), '.']) utimesSync(join(quiet, name), old, old)
    const twice = await typist.list()
    expect(twice.warnings).toMatchObject([
      { file: 'coordination/in_progress/req_0004_d', message: expect.stringContaining('2 started flags') },
    ])
    const { recovered, stale } = await typist.run<Recovery>('recover', '--grace', '0s')
    const said = Object.fromEntries(recovered.map(({ id, to, what }) => [id, `${to}: ${what}`]))
    expect(said).toEqual({
      req_0001: expect.stringMatching(/^to_execute: it was moved here, but nobody says to have started it/),
      req_0002: expect.stringMatching(/^completed: it was completed at 2026-01-25T14:30:22\.000Z/),
      req_0003: expect.stringMatching(/^error: it failed, as error_report\.md says/),
      req_0004: expect.stringMatching(/^in_progress: it was started more than once: req_0004_20260101T000000_started/),
    })
    expect(stale).toMatchObject([{ id: 'req_0005', owner: null, what: expect.stringContaining('without a lease') }])
    expect(await typist.run<Recovery>('recover')).toMatchObject({ recovered: [], stale: [{ id: 'req_0005' }] })
    expect(await typist.show('2')).toMatchObject({ state: 'completed', finishedAt: '2026-01-25T14:30:22.000Z' })
    expect(await typist.show('3')).toMatchObject({ state: 'error', finishedAt: expect.any(String) })
    expect([names(cwd, 'completed'), names(cwd, 'error'), names(cwd, 'to_execute')]).toEqual([
      ['req_0002_b'],
      ['req_0003_c'],
      ['req_0001_a'],
    ])
    expect((await typist.run('return', '5')).task.state).toBe('to_execute')
  })

  test('has put something in the way: nothing is nested, replaced or lost', async () => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B', 'C'])
    await typist.claim('w1', '1')
    mkdirSync(join(cwd, 'coordination/completed/req_0001_a'))
    const full = await typist.refused('complete', '1', '--token', '1')
    expect(full).toMatchObject({ status: 5, code: 'move_refused', hint: expect.stringContaining('queue recover') })
    expect(readdirSync(join(cwd, 'coordination/in_progress/req_0001_a'))).toContain('req_0001_a.md')
    expect(names(cwd, 'completed/req_0001_a')).toEqual([])
    expect((await typist.list()).warnings).toMatchObject([{ file: 'coordination/completed/req_0001_a' }])
    rmSync(join(cwd, 'coordination/completed/req_0001_a'), { recursive: true })
    await typist.run('recover')
    expect((await typist.run('complete', '1', '--token', '1')).task.state).toBe('completed')
    expect(names(cwd, 'completed/req_0001_a')).toContain('req_0001_a.md')

    sh(cwd, 'cp -r to_execute/req_0002_b in_progress/req_0002_b')
    expect(await typist.refused('claim', '2', '--worker', 'w1')).toMatchObject({ status: 5, code: 'move_refused' })
    // One that is in the way of itself keeps nobody from the others.
    expect((await typist.claim('w1')).id).toBe('req_0003')
    sh(cwd, on('req_0002_b', CLAIM))
    const { warnings } = await typist.list()
    expect(warnings).toMatchObject([{ message: expect.stringContaining('has another req_0002_b in it') }])
    sh(cwd, 'rm -r in_progress/req_0002_b/req_0002_b')
    expect((await typist.list()).warnings).toEqual([])
  })

  test.each<[string, string, RegExp]>([
    ['a task file that is missing', 'rm X/req_0001_a.md; mv X to_execute/req_0001_a', /has no req_0001_a\.md/],
    [
      'a task file for another task',
      'sed -i s/#0001/#0009/ X/req_0001_a.md; mv X to_execute/req_0001_a',
      /says it is #0009/,
    ],
    [
      'a task file without its fields',
      'echo "# x" > X/req_0001_a.md; mv X to_execute/req_0001_a',
      /Type.*Priority.*Posted/,
    ],
    ['a link', 'ln -s ../X to_execute/req_0001_a', /symbolic link/],
    ['a file', 'cp X/req_0001_a.md to_execute/req_0001_a', /is not a directory/],
    ['a name that says nothing', 'mv X to_execute/stuff', /must be named req_/],
    [
      'a flag that is a directory',
      'mkdir X/req_0001_20260101T000000_started; mv X in_progress/req_0001_a',
      /req_0001_20260101T000000_started .*does not count/,
    ],
    [
      'a flag that is not empty',
      'echo x > X/req_0001_20260101T000000_started; mv X in_progress/req_0001_a',
      /req_0001_20260101T000000_started .*does not count/,
    ],
  ])('leaves %s: it is named in a warning, never touched, and in nobody’s way', async (_, script, said) => {
    const cwd = scratch()
    const typist = new Typist(cwd)
    await typist.add(['A', 'B'])
    sh(cwd, 'mv to_execute/req_0001_a X')
    expect((await typist.list()).tasks).toMatchObject([{ id: 'req_0002' }])
    sh(cwd, script)
    const { warnings } = await typist.list()
    expect(warnings.map(({ file, message }) => `${file} ${message}`)).toEqual([expect.stringMatching(said)])
    const everything = () =>
      sh(cwd, 'ls -lR --time-style=+ staged to_execute in_progress | grep -v total; cat */*/*.md')
    const before = everything()
    expect((await typist.claim('w1')).title).toBe('B')
    sh(cwd, 'mv in_progress/req_0002_b to_execute; rm to_execute/req_0002_b/*_started')
    expect(everything()).toBe(before)
  })

  test('and programs that claim at the same time never get the same task', { timeout: 120_000 }, async () => {
    const cwd = scratch()
    await new Typist(cwd).add(Array.from({ length: 200 }, (_, n) => `task ${n}`))
    const loop = `read _
      while :; do
        left=0
        for path in to_execute/*/; do
          TASK_DIR=$(basename "$path"); [ "$TASK_DIR" = '*' ] && break
          left=1
          mv "to_execute/$TASK_DIR" "in_progress/$TASK_DIR" 2>/dev/null || continue
          touch "in_progress/$TASK_DIR/\${TASK_DIR%%_*}_$(date +%Y%m%dT%H%M%S)_started"; echo "\${TASK_DIR%_task*}"
        done
        [ $left = 0 ] && break
      done`
    const rivals = await new Rivals(cwd).ready()
    const scripts = Array.from({ length: 8 }, () => spawn('sh', ['-c', loop], { cwd: join(cwd, 'coordination') }))
    const heard = scripts.map(async script => await ended(script))
    for (const script of scripts) script.stdin.write('go\n')
    const byProgram = (await rivals.all('claim')).flat()
    const byScript = (await Promise.all(heard)).flatMap(({ stdout }) => stdout.split('\n').filter(Boolean))
    await rivals.end()
    const all = [...byScript, ...byProgram]
    expect(all).toHaveLength(200)
    expect(new Set(all).size).toBe(200)
    expect([names(cwd, 'to_execute'), names(cwd, 'in_progress').length]).toEqual([[], 200])
    expect(byProgram.length).toBeGreaterThan(0)
    expect(byScript.length).toBeGreaterThan(0)
    const { tasks, warnings } = await new Typist(cwd).list('--all')
    expect(warnings).toEqual([])
    const owned = tasks.filter(({ owner }) => owner !== null).map(({ id }) => id)
    expect(owned.toSorted()).toEqual(byProgram.toSorted())
    const { events } = await answer<{ events: { to: string; id: string }[] }>(['log', '--limit', '1000'], { cwd })
    const moves = events.filter(({ to }) => to === 'in_progress').map(({ id }) => id)
    expect(new Set(moves).size).toBe(200)
  })
})
