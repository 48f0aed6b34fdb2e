import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { concealing } from '../../src/core/secrets.ts'
import { punchlist } from '../support/cli.ts'
import { addTask, type Here, run, runHere } from '../support/run-here.ts'

const VALUE = 'correct horse "battery" staple'
const LINES = 'first-line-of-a-secret\nsecond-line-of-a-secret'

/** Every file below, but for what the test put there itself. */
function kept({ cwd }: Here): [file: string, text: string][] {
  return readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.endsWith('/bin') && entry.name !== 'agent.sh')
    .map(entry => join(entry.parentPath, entry.name))
    .map(file => [file, readFileSync(file, 'latin1')])
}

function expectConcealed(here: Here, ...printed: readonly string[]): void {
  const texts = [...kept(here), ...printed.map(text => ['printed', text] as const)]
  for (const part of ['horse', 'second-line']) {
    expect(texts.filter(([, text]) => text.includes(part)).map(([file]) => file)).toEqual([])
  }
  expect(texts.filter(([, text]) => text.includes('[redacted]'))).not.toEqual([])
}

const withSecrets = (here: Here): Here => ({
  ...here,
  env: { ...here.env, VAULT_PASSWORD: VALUE, SIGNING_KEY: LINES, DEPLOY_KEY_FILE: '/keys/deploy', MAX_TOKENS: '16384' },
})

test.each(['', 'sqlite:queue.db'])('what an agent prints of its secrets is kept nowhere, on %j', async store => {
  const here = withSecrets(
    runHere(
      `echo "$VAULT_PASSWORD"; printf '{"said":"correct horse \\\\"battery\\\\" staple"}\\n'; echo "$SIGNING_KEY" >&2
       echo "$DEPLOY_KEY_FILE and $MAX_TOKENS"
       case $PUNCHLIST_TASK in req_0001) exit 3;; esac`,
      { store },
    ),
  )
  await addTask(here, 'Sign the release')
  await addTask(here, 'Write the notes')
  const { stdout, stderr } = await run(here, '--name', 'w', '--max-attempts', '1', '--pr')
  expect(stdout).toContain('1 completed, 1 failed')
  expect(stdout).toContain('/keys/deploy and 16384')
  expectConcealed(here, stdout, stderr)
})

test.each(['', 'sqlite:queue.db'])('neither is what it hands to a verb, on %j', async store => {
  const here = withSecrets(
    runHere(
      `punchlist worklog decide "$PUNCHLIST_ACTOR" 1 "used $VAULT_PASSWORD" >/dev/null
       punchlist plan add "try $VAULT_PASSWORD" >/dev/null
       punchlist backlog add "Rotate $VAULT_PASSWORD" --source work >/dev/null
       punchlist queue fail "$PUNCHLIST_TASK" --type key --what "$VAULT_PASSWORD was refused" --tried "$SIGNING_KEY" >/dev/null`,
      { store },
    ),
  )
  await addTask(here, 'Sign the release')
  const { stdout } = await run(here, '--name', 'w', '--pr')
  expect(stdout).toContain('1 failed')
  expect((await punchlist(['queue', 'show', 'req_0001'], here)).stdout).toContain('[redacted] was refused')
  expectConcealed(here, stdout)
})

test.each([
  ['OPENAI_API_KEY', 'abcdef', true],
  ['GITHUB_TOKEN', 'abcdef', true],
  ['dbpassword', 'abcdef', true],
  ['CLIENT_SECRET', 'abcdef', true],
  ['AWS_SECRET_ACCESS_KEY', 'a/b+c=', true],
  ['MAX_OUTPUT_TOKENS', '320000000', false],
  ['TOKENIZERS_PARALLELISM', 'enabled', false],
  ['MONKEY', 'banana', false],
  ['PUNCHLIST_TOKEN', '17', false],
  ['API_KEY_TTL_MS', '3600000', false],
  ['SSH_KEY_FILE', '/keys/deploy', false],
  ['HOME', '/home/alice', false],
])('the value of %s=%s is a secret: %s', (name, value, isSecret) => {
  expect(concealing({ [name]: value })(`it is ${value}.`)).toBe(isSecret ? 'it is [redacted].' : `it is ${value}.`)
})
