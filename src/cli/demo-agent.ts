import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Surroundings } from './main.ts'

/** An agent without a model: it reads its prompt as any other does, and works with the same commands. */
export async function demoAgent({ terminal, env }: Surroundings): Promise<number> {
  const id = env['PUNCHLIST_TASK']
  // Typed by a person, nothing comes on standard input.
  const prompt = id ? await terminal.read('-') : ''
  const script = SCRIPTS.find(({ title }) => prompt.includes(title))
  if (!script || !id) {
    terminal.err('This agent only knows the tasks of punchlist demo, which starts it.')
    return 2
  }
  terminal.out(await script.play({ id, worker: env['PUNCHLIST_ACTOR'] ?? id, prompt }))
  return 0
}

interface Self {
  readonly id: string
  readonly worker: string
  readonly prompt: string
}

/** What it does about a task, by words in its prompt; what it returns is the last that it says. A task that was divided tells of its parts, so it comes before them. */
const SCRIPTS: readonly { readonly title: string; play(self: Self): Promise<string> | string }[] = [
  { title: 'The start page has a dead link', play: deadLink },
  { title: 'Write the guide', play: guide },
  { title: 'Choose the colour', play: colour },
  { title: 'Translate the start page', play: translations },
  { title: 'Bake a page in', play: translation },
]

async function deadLink({ id, prompt }: Self): Promise<string> {
  if (!prompt.includes('Checkpoint 001')) {
    punchlist('queue', 'checkpoint', id, '--summary', 'index.html links to abuot.html')
    // Not done yet when its runner is killed.
    await sleep(120_000)
    return 'nobody came'
  }
  const hasty = !prompt.includes('is not done yet')
  const page = readFileSync('index.html', 'utf8')
  writeFileSync('index.html', page.replace(/href="[^"]*"/, `href="${hasty ? 'about.htm' : 'about.html'}"`))
  if (hasty) return 'corrected the link'
  return 'corrected the link, to a page that is there'
}

/** Stops after one of three, as agents do; sent on, it takes up what its plan says is left. */
function guide({ worker, prompt }: Self): string {
  if (!prompt.includes('[Status: 1/3 completed')) {
    punchlist('plan', 'add', 'Flour', 'Dough', 'Oven')
    const [, number = '1'] = /worklog decide \S+ (\d+)/.exec(prompt) ?? []
    punchlist('worklog', 'decide', worker, number, 'The oven comes last: nobody bakes before there is dough')
    return chapter('1', 'Flour')
  }
  chapter('2', 'Dough')
  chapter('3', 'Oven')
  return 'the guide has three chapters'
}

function chapter(number: string, title: string): string {
  appendFileSync('guide.html', `<h2>${title}</h2>\n`)
  punchlist('plan', 'complete', number, `guide.html has the chapter ${title}`)
  return `wrote ${title}`
}

function colour({ id, prompt }: Self): string {
  const [, answer] = /(Brown)/.exec(prompt) ?? []
  if (answer === undefined) {
    punchlist('queue', 'checkpoint', id, '--summary', 'style.css is ready but for it', '--needs', 'Which colour?')
    return 'asked which colour'
  }
  writeFileSync('style.css', `h1 { color: ${answer.toLowerCase()} }\n`)
  return `the headings are ${answer.toLowerCase()}`
}

function translations({ id, prompt }: Self): string {
  if (!prompt.includes('Its parts are done')) {
    for (const language of ['German', 'French']) {
      const asked = ['--description', 'Heading and link', '--expect', 'a page']
      punchlist('queue', 'add', `Bake a page in ${language}`, '--parent', id, ...asked)
    }
    return 'divided it by language'
  }
  writeFileSync('languages.html', '<a href="de.html">Deutsch</a>\n<a href="fr.html">Français</a>\n')
  return 'both pages are linked'
}

function translation({ prompt }: Self): string {
  const [page, heading] = prompt.includes('Bake a page in German') ? ['de', 'Bäckerei'] : ['fr', 'Boulangerie']
  writeFileSync(`${page}.html`, `<h1>${heading}</h1>\n<a href="about.html">…</a>\n`)
  return `wrote ${page}.html`
}

function punchlist(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [process.argv[1]!, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`punchlist ${args.join(' ')}: exit ${status}\n${stderr}`)
}
