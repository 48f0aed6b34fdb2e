import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Stage } from './demo-stage.ts'

const AGENT = '-- punchlist demo --agent'

/** The acts, in order: each waits for what it tells. */
export const ACTS: readonly ((stage: Stage) => Promise<void>)[] = [
  finding,
  race,
  killed,
  mended,
  together,
  answered,
  afterwards,
]

export const ENDING = `
That was a temporary folder, and it is gone. In your own:
  punchlist init claude-code                   wire the host that your agent runs in
  punchlist queue add "…" --description "…" --expect "…"
  punchlist run --workers 2 --agent claude-code
  punchlist run --report                       what they did
punchlist --help lists everything.`

async function finding(stage: Stage): Promise<void> {
  stage.write('index.html', '<h1>Bakery</h1>\n<a href="abuot.html">About us</a>\n')
  stage.write('about.html', '<p>We bake bread.</p>\n<a href="index.html">Home</a>\n')
  stage.write('links.js', LINKS)
  stage.write('plan.md', '# Plan\n\nA site that people find their way around in.\n')
  stage.write('punchlist.json', `${JSON.stringify({ store: 'files', wards: ['node links.js'] }, null, 2)}\n`)
  stage.caption(
    'A small site, with a ward that must pass before anything counts as done: node links.js',
    'You have looked at the ward, and accept it. A review found something: it is approved, and becomes a task.',
  )
  await stage.type('trust --yes')
  await stage.type('backlog add "The start page has a dead link" --source review --file index.html')
  await stage.type('backlog approve 1')
  await stage.type('queue add --from-backlog 1')
}

async function race(stage: Stage): Promise<void> {
  stage.caption('Two workers ask for it at the same moment. One gets it.')
  const claims = ['ada', 'bo'].map(worker => ({ worker, command: `queue claim req_0001 --worker ${worker}` }))
  const typed = await stage.typeAtOnce(claims.map(({ command }) => command))
  const winners = claims.filter((_, index) => typed[index]!.status === 0)
  if (winners.length !== 1) throw new Error(`the demo went wrong: ${winners.length} workers got the same task`)
  await stage.type(`queue return req_0001 --actor ${winners[0]!.worker} --reason "only showing"`)
}

async function killed(stage: Stage): Promise<void> {
  stage.caption('A runner starts an agent for it. The agent reports what it found, and then the runner is killed.')
  const { child, ended } = stage.begin(`run --name ada ${AGENT}`)
  const home = join(stage.folder, 'coordination/in_progress')
  await Promise.race([
    ended.then(({ status }) => Promise.reject(new Error(`the demo went wrong: the runner ended, exit ${status}`))),
    stage.until('a checkpoint', () => checkpointIn(home)),
  ])
  stage.say(`$ kill -9 ${child.pid}`)
  child.kill('SIGKILL')
  await ended
}

function checkpointIn(folder: string): boolean {
  if (!existsSync(folder)) return false
  return readdirSync(folder).some(task => existsSync(join(folder, task, 'checkpoint_001.md')))
}

async function mended(stage: Stage): Promise<void> {
  stage.caption(
    'Its agent ends with it. The next runner takes the task up at once, from the checkpoint.',
    'What the agent does first fails the ward, so it is sent back to mend that.',
  )
  await stage.type(`run --name bo ${AGENT}`)
  stage.caption('The todo that it all began with is resolved, and every move can be read.')
  await stage.type('backlog list --all')
  await stage.type('log --limit 10')
}

async function together(stage: Stage): Promise<void> {
  stage.write('tasks.json', `${JSON.stringify(TASKS, null, 2)}\n`)
  stage.caption('More work, and two agents. One stops early and is sent on, one asks, one divides its task into parts.')
  await stage.type('queue add --items tasks.json')
  await stage.type(`run --workers 2 --name team ${AGENT}`)
  stage.caption('What a run of hours did can be read afterwards.')
  await stage.type('run --report')
}

async function answered(stage: Stage): Promise<void> {
  stage.caption('One task waits for a person, who answers. It is carried on with the answer.')
  await stage.type('status')
  await stage.type('queue reply req_0003 "Brown, like the crust"')
  await stage.type(`run --name team ${AGENT}`)
}

async function afterwards(stage: Stage): Promise<void> {
  stage.caption('For whoever comes back from lunch: the tasks, the summary, and the text for the pull request.')
  await stage.type('queue tree')
  await stage.type('worklog summary')
  await stage.type('worklog pr')
}

const TASKS = {
  items: [
    { title: 'Write the guide', description: 'Three chapters: flour, dough, oven', expect: 'guide.html' },
    { title: 'Choose the colour', description: 'The colour of the headings', expect: 'style.css' },
    { title: 'Translate the start page', description: 'Into German and French', expect: 'de.html, fr.html' },
  ],
}

const LINKS = `const fs = require('fs')
for (const page of fs.readdirSync('.').filter(name => name.endsWith('.html')))
  for (const [, to] of fs.readFileSync(page, 'utf8').matchAll(/href="([^"]+)"/g))
    if (!fs.existsSync(to)) {
      console.error(page + ' links to ' + to + ', which is not there')
      process.exitCode = 1
    }
`
