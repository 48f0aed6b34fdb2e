import { describe, expect, test } from 'vitest'
import { MARK } from '../../src/continuation/prompt.ts'
import { SESSION, says, started, tell } from './opencode-client.ts'

describe('a session that goes idle with items open', () => {
  test('is sent on, with the agent and the model it was last asked with', async () => {
    const { host, hooks } = await started()
    await tell(hooks, 'session.idle')
    await host.prompted(1)
    const { session, body } = host.prompts[0]!
    expect({ session, agent: body['agent'], model: body['model'] }).toEqual({
      session: SESSION,
      agent: 'build',
      model: { providerID: 'p', modelID: 'm' },
    })
    expect(body.parts[0]!.text).toContain(MARK)
    expect(body.parts[0]!.text).toContain('[Status: 0/2 completed, 2 remaining]')
    expect(body.parts[0]!.text).toContain('"Write it", "Test it"')
  })

  test('is counted down to, where people see it', async () => {
    const { host, hooks } = await started({ countdownSeconds: 1 })
    await tell(hooks, 'session.idle')
    await host.prompted(1)
    expect(host.toasts).toEqual(['Resuming in 1s... (2 tasks remaining)'])
  })

  test('is left alone when the user says something during the countdown', async () => {
    const { host, hooks } = await started({ countdownSeconds: 2 })
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'counting down')
    await says(hooks, 'Wait.')
    await host.logged(SESSION, 'called off')
    expect(host.prompts).toEqual([])
  })

  test('is left alone when it is at work again', async () => {
    const { host, hooks } = await started({ countdownSeconds: 2 })
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'counting down')
    await hooks['tool.execute.before']({ tool: 'bash', sessionID: SESSION }, { args: {} })
    await host.logged(SESSION, 'called off')
    expect(host.prompts).toEqual([])
  })

  test('is left alone where everything waits for a person', async () => {
    const { host, hooks, run } = await started({ items: ['Decide'] })
    await run('plan', 'block', '1', 'the owner decides')
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'waiting_on_person')
    expect(host.prompts).toEqual([])
  })

  test('is left alone while it is switched off', async () => {
    const { host, hooks, run } = await started()
    await run('stop', '--session', SESSION)
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'off')
    expect(host.prompts).toEqual([])
  })

  test('is left alone when the rules of its agent do not let it edit', async () => {
    const { host, hooks } = await started()
    host.agents = [
      {
        name: 'build',
        permission: [
          { permission: '*', pattern: '*', action: 'allow' },
          { permission: 'edit', pattern: '*', action: 'deny' },
          { permission: 'edit', pattern: 'notes/*', action: 'allow' },
        ],
      },
    ]
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'read_only')
    expect(host.prompts).toEqual([])
  })

  test('is left alone after an abort, until somebody speaks', async () => {
    const { host, hooks } = await started()
    await tell(hooks, 'session.error', { error: { name: 'MessageAbortedError', data: {} } })
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'aborted')
    await says(hooks, 'Go on, please.')
    await tell(hooks, 'session.idle')
    await host.prompted(1)
  })

  test.each([
    ['question.rejected', {}],
    ['permission.replied', { reply: 'reject' }],
  ])('is left alone after %s, until the user speaks', async (type, properties) => {
    const { host, hooks } = await started()
    await tell(hooks, type, properties)
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'asked')
    await says(hooks, 'Do it another way.')
    await tell(hooks, 'session.idle')
    await host.prompted(1)
  })

  test('waits for its subagents, and is sent on when they are done', async () => {
    const { host, hooks } = await started()
    host.parents.set('ses_child', SESSION)
    host.busy.add('ses_child')
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'left alone', 'background')
    expect(host.prompts).toEqual([])
    host.busy.clear()
    await tell(hooks, 'session.idle', { sessionID: 'ses_child' })
    await host.prompted(1)
    expect(host.prompts.map(({ session }) => session)).toEqual([SESSION])
  })

  test('is not sent on once the plugin has been put away', async () => {
    const { host, hooks } = await started({ countdownSeconds: 1 })
    await tell(hooks, 'session.idle')
    await host.logged(SESSION, 'counting down')
    await hooks.dispose()
    await new Promise(done => setTimeout(done, 1500))
    expect(host.prompts).toEqual([])
  })

  test('is left to whoever started it where the process ends with the answer', async () => {
    const { host, hooks, run, injections } = await started()
    await run('plan', 'add', 'Something else', '--conversation', 'ses_2')
    const { argv } = process
    process.argv = ['bun', '/$bunfs/root/src/index.js', '--log-level', 'INFO', 'run', 'Build it.']
    try {
      await tell(hooks, 'session.idle')
    } finally {
      process.argv = argv
    }
    await tell(hooks, 'session.idle', { sessionID: 'ses_2' })
    await host.logged('ses_2', 'sent on')
    expect(host.logs.filter(line => line.includes(SESSION))).toEqual([])
    expect(await injections()).toBe(0)
  })
})
