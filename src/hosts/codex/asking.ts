import { spawn } from 'node:child_process'
import { homedir } from 'node:os'

const LIMIT_MS = 8000

/**
 * What Codex says of the hooks for a folder; undefined where it does not answer
 * in time. It is started in the user's own folder: nothing of the other is run.
 */
export async function hooksAsListed(
  program: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<unknown> {
  const child = spawn(program, ['app-server'], {
    cwd: env['HOME'] ?? homedir(),
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return await new Promise(done => {
    const finish = (answer: unknown) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      done(answer)
    }
    const timer = setTimeout(() => finish(undefined), LIMIT_MS)
    let rest = ''
    child.on('error', () => finish(undefined)).on('close', () => finish(undefined))
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const answer = answered(line)
        if (answer !== undefined) finish(answer)
      }
    })
    child.stdin.on('error', () => {})
    for (const message of CALLS(folder)) child.stdin.write(`${JSON.stringify(message)}\n`)
  })
}

const CALLS = (folder: string) => [
  { id: 0, method: 'initialize', params: { clientInfo: { name: 'punchlist', version: '1' } } },
  { method: 'initialized' },
  { id: 1, method: 'hooks/list', params: { cwds: [folder] } },
]

function answered(line: string): unknown {
  try {
    const { id, result, error } = JSON.parse(line) as { id?: number; result?: { data?: unknown[] }; error?: unknown }
    if (id !== 1 || error !== undefined) return undefined
    return result?.data?.[0]
  } catch {
    return undefined
  }
}
