import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ended, punchlist, start } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'

test('the demo tells its story through the real commands, and leaves nothing behind', async () => {
  const [temporary, home] = [scratch(), scratch()]
  const env = { TMPDIR: temporary, HOME: home, PUNCHLIST_TASK: 'req_0009', PUNCHLIST_STORE: 'sqlite:elsewhere.db' }
  const { status, stdout, stderr } = await punchlist(['demo'], { cwd: scratch(), env })
  expect([status, stderr]).toEqual([0, ''])

  const [, raced = ''] = /# Two workers ask[^#]*?\n([^#]*)/.exec(stdout) ?? []
  expect(raced.match(/in_progress .*\((?:ada|bo), token 1/g)).toHaveLength(1)
  expect(raced.match(/^req_0001 is (?:ada|bo)'s until/gm)).toHaveLength(1)

  expect(told(stdout)).toEqual(STORY)
  // What the parts did is told before the task that they are parts of is done.
  expect(stdout).toMatch(/req_0004_01  completed[\s\S]*req_0004  completed  \S+  both pages are linked/)
  expect(stdout).toMatch(/req_0004_02  completed[\s\S]*req_0004  completed  \S+  both pages are linked/)
  expect(stdout).toMatch(/^req_0003 {7}completed/m)

  expect(readdirSync(temporary).filter(name => name.startsWith('punchlist-demo-'))).toEqual([])
  expect(readdirSync(home)).toEqual([])
  await nothingRunsIn(temporary)
})

test('a demo that is interrupted stops its agents and takes its folder along', async () => {
  const temporary = scratch()
  const child = start(['demo'], { cwd: scratch(), env: { TMPDIR: temporary } })
  const ran = ended(child)
  let shown = ''
  while (!shown.includes('req_0001  ada-1')) shown += String((await once(child.stdout!, 'data'))[0])
  child.kill('SIGTERM')
  expect((await ran).status).toBe(130)
  expect(readdirSync(temporary).filter(name => name.startsWith('punchlist-demo-'))).toEqual([])
  await nothingRunsIn(temporary)
})

/** What is told, in order. */
const STORY = [
  'review/001  p2  pending',
  'req_0001  NORMAL  to_execute',
  'req_0001  ada-1',
  '$ kill -9',
  'req_0001  bo-1',
  'req_0001  wards failed: node links.js (exit 1)',
  'req_0001  wards passed: node links.js',
  'req_0001  completed',
  'review/001  p2  complete',
  'the run that had it was killed',
  'req_0002  sent on: 2 open',
  'req_0002  completed',
  'waits for a reply  req_0003',
  'queue reply req_0003',
  'the headings are brown',
  'Translate the start page        2/2',
  'workers completed',
  '## Work Session',
  'The oven comes last',
  'punchlist run --workers 2 --agent claude-code',
]

/** Of the words of the story, those that are told after the ones before them. */
function told(story: string): string[] {
  let from = 0
  return STORY.filter(words => {
    const at = story.indexOf(words, from)
    if (at !== -1) from = at + words.length
    return at !== -1
  })
}

/** A guard that has just ended an agent is there for two seconds more. */
async function nothingRunsIn(folder: string): Promise<void> {
  let left = runningIn(folder)
  for (let looks = 0; left.length > 0 && looks < 200; looks++) {
    await sleep(50)
    left = runningIn(folder)
  }
  expect(left).toEqual([])
}

function runningIn(folder: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').filter(pid => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
    } catch {
      return false
    }
  })
}
