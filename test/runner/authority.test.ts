import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { answer, punchlist } from '../support/cli.ts'
import { freshSchema } from '../support/postgres.ts'
import { addTask, type Here, run, runHere, statesIn } from '../support/run-here.ts'

/** Ways in which an agent calls the program without the token that its environment has for its own task. */
const WAYS = {
  'as it is': 'punchlist',
  'without the mark': 'env -u PUNCHLIST_RUN -u PUNCHLIST_TASK -u PUNCHLIST_TOKEN punchlist',
  'with a token that names no task': 'env -u PUNCHLIST_RUN -u PUNCHLIST_TASK punchlist',
  'with an empty environment': 'env -i PATH="$PATH" HOME="$HOME" PUNCHLIST_STORE="$PUNCHLIST_STORE" punchlist',
  'in a session of its own': 'setsid -w env -i PATH="$PATH" HOME="$HOME" PUNCHLIST_STORE="$PUNCHLIST_STORE" punchlist',
}

const VERBS = [
  'queue complete req_0001',
  'queue complete req_0001 --note done',
  'queue return req_0001',
  'queue fail req_0001 --type t --what w',
  'queue heartbeat req_0001',
  'queue checkpoint req_0001 --summary s',
  'queue cancel req_0001 --reason r',
  'queue claim req_0001 --worker ann',
]

/** Each line of what the agent wrote down: exit status and what was called. */
function tried(here: Here): string[] {
  return readFileSync(join(here.cwd, 'tried'), 'utf8').trim().split('\n')
}

const stores = { files: '', sqlite: 'sqlite:queue.db', postgres: 'postgres' }

describe.each(Object.entries(stores))('an agent of a run, in %s', (_, kind) => {
  test('writes nothing about the task of another without its token, and answers no question of its own', async () => {
    const calls = Object.values(WAYS).flatMap(way => VERBS.map(verb => `${way} ${verb}`))
    const own = Object.values(WAYS).map(way => `${way} queue reply req_0002 yes`)
    const ask = 'punchlist queue checkpoint "$PUNCHLIST_TASK" --summary half --needs "which one?"'
    const each = [...calls, ...own].map(line => `${line} >>out 2>&1; echo "$? ${line.replaceAll('"', '')}" >>tried`)
    const exec = `(exec env -i PATH="$PATH" HOME="$HOME" PUNCHLIST_STORE="$PUNCHLIST_STORE" punchlist queue complete req_0001)`
    const script = [ask, ...each, `${exec} >>out 2>&1; echo "$? exec" >>tried`].join('\n')
    const store = kind === 'postgres' ? freshSchema(inject('postgres')) : kind
    const here = runHere(script, { store })
    await addTask(here, 'Of another')
    await answer(['queue', 'claim', 'req_0001', '--worker', 'ann'], here)
    await addTask(here, 'Its own')
    await run(here)
    const outcome = tried(here)
    expect(outcome).toHaveLength(calls.length + own.length + 1)
    expect(outcome.filter(line => !/^[56] /.test(line))).toEqual([])
    expect(await statesIn(here)).toMatchObject({ req_0001: 'in_progress', req_0002: 'to_execute' })
    const { task } = await answer<{ task: { owner: string; waiting: boolean } }>(['queue', 'show', '1'], here)
    expect(task).toMatchObject({ owner: 'ann', waiting: false })

    // A person still can, and the log says so.
    await answer(['queue', 'reply', 'req_0002', 'the first'], here)
    await answer(['queue', 'complete', 'req_0001'], here)
    const { task: done } = await answer<{ task: { history: { by: string; why: string }[] } }>(
      ['queue', 'show', '1'],
      here,
    )
    expect(done.history.at(-1)).toMatchObject({ by: 'tester', why: '(without a token)' })
  })

  test('a lost lease does not tell the token that counts', async () => {
    const store = kind === 'postgres' ? freshSchema(inject('postgres')) : kind
    const here = runHere('', { store })
    await addTask(here, 'One')
    for (let claims = 0; claims < 7; claims++) {
      await answer(['queue', 'claim', 'req_0001', '--worker', 'ann'], here)
      if (claims < 6) await answer(['queue', 'return', 'req_0001'], here)
    }
    for (const verb of ['complete', 'return', 'heartbeat']) {
      const { status, stderr } = await punchlist(['--json', 'queue', verb, 'req_0001', '--token', '2'], here)
      expect(status).toBe(6)
      const { error } = JSON.parse(stderr) as { error: { code: string; details: object } }
      expect(error).toMatchObject({ code: 'lease_lost', details: { id: 'req_0001' } })
      expect(error.details).not.toHaveProperty('token')
      expect(stderr).not.toMatch(/token (?:is )?1\d/)
    }
  })
})
