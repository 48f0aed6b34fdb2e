import { describe, expect, test } from 'vitest'
import { punchlist } from '../support/cli.ts'
import { scratch } from '../support/scratch.ts'
import { type ForPullRequest, Typist } from '../support/worklog.ts'

describe('a body that the section goes into', () => {
  const session = async () => {
    const typist = new Typist(scratch())
    await typist.opened('alice')
    await typist.run('task', 'alice', '1', 'Escape the report')
    return typist
  }
  const BODIES = [
    '',
    'no line break at the end',
    'one\n',
    '\uFEFFa mark before it\n',
    'CRLF\r\n\r\nas browsers send it\r\n',
    'controls \u001b[1m and \u0007 stay\n',
    '# A heading\n\n```\n<!-- punchlist:work-session -->\n```\n\ntext\n',
    '<details>\n<summary>open</summary>\n\nnever closed',
    '```\nnever closed',
  ]

  test('comes back to the last byte without a summary, from a file and from standard input', async () => {
    const typist = await session()
    for (const body of BODIES) {
      expect(await typist.merged(body)).toBe(body)
      typist.put('../body.md', body)
      const ran = await typist.seen('pr', '--body', 'tmp/work/s1/body.md')
      expect([ran.status, ran.stdout]).toEqual([0, body])
      expect(ran.stderr).toContain('_summary.md')
      expect(ran.stderr).toContain('worklog summary --session s1')
    }
    const json = await typist.run<ForPullRequest>('pr', '--body', 'tmp/work/s1/body.md')
    expect(json).toMatchObject({ text: BODIES.at(-1), section: null, warnings: [{ line: 1 }] })
    expect(await typist.seen('pr')).toMatchObject({ status: 0, stdout: '' })
  })

  test('holds it once however often it is put there, and is otherwise as it was', async () => {
    const typist = await session()
    await typist.summary()
    const { text: section } = await typist.run<ForPullRequest>('pr')
    for (const body of BODIES) {
      const once = await typist.merged(body)
      expect(await typist.merged(once)).toBe(once)
      const eol = body.includes('\r\n') ? '\r\n' : '\n'
      const ours = section.trim().replaceAll('\n', eol)
      expect(once.split(ours)).toHaveLength(2)
      // Whatever else is new is an empty line around it.
      const [before, after] = once.split(ours) as [string, string]
      const left = body.startsWith(before.trimEnd()) ? body.slice(before.trimEnd().length) : undefined
      expect(left, body).toBeDefined()
      expect(left!.trim()).toBe(after.trim())
    }
    const first = await typist.merged('Before.\n\nAfter.\n')
    await typist.run('complete', 'alice', '1')
    const second = await typist.merged(first.replace('Before.', 'Changed.'))
    expect(second).toContain('1/1 tasks')
    expect(second).not.toContain('0/1 tasks')
    expect(second.startsWith('Changed.\n\nAfter.\n\n<!--')).toBe(true)
  })

  test('loses nothing where the end of the section was lost', async () => {
    const typist = await session()
    await typist.run('complete', 'alice', '1')
    await typist.summary()
    for (const eol of ['\n', '\r\n']) {
      const mine = ['Below it.', '', '- one', '- two', '', 'Fixes the report.', ''].join(eol)
      const whole = await typist.merged(`Above it.${eol}`)
      const lost = `${whole.replace('<!-- /punchlist:work-session -->', '').trimEnd()}${eol}${eol}${mine}`
      const again = await typist.merged(lost)
      expect(again).toBe(`${whole}${eol}${mine}`)
      expect(await typist.merged(again)).toBe(again)
    }
  })

  test('is refused when it is no text', async () => {
    const typist = await session()
    typist.put('../body.md', Uint8Array.from([0xff, 0xfe, 0x00]))
    expect(await typist.refused('pr', '--body', 'tmp/work/s1/body.md')).toMatchObject({ status: 2, code: 'bad_input' })
    const { status } = await punchlist(['worklog', 'pr', '--body', '-'], {
      ...typist.around,
      input: 'x'.repeat(1_000_001),
    })
    expect(status).toBe(2)
  })
})
