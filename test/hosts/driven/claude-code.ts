import { join } from 'node:path'
import { anthropicModel } from '../models/anthropic.ts'
import { type DrivenHost, native } from './host.ts'

const PROGRAM = join(native('@anthropic-ai/claude-code'), 'claude')

export const claudeCode: DrivenHost = {
  name: 'claude-code',
  model: anthropicModel,
  session: /"session_id":"([^"]+)"/,

  init: [],
  prepare: () => {},

  command: (prompt, resumed) => [
    PROGRAM,
    '-p',
    prompt,
    ...(resumed === undefined ? [] : ['--resume', resumed]),
    '--allowedTools',
    'mcp__punchlist',
    '--output-format',
    'json',
  ],

  talk: {
    command: [
      PROGRAM,
      '-p',
      '--allowedTools',
      'mcp__punchlist',
      '--input-format',
      'stream-json',
      '--output-format',
      'stream-json',
      '--verbose',
    ],
    line: prompt => JSON.stringify({ type: 'user', message: { role: 'user', content: prompt } }),
    answered: '"type":"result"',
  },

  env: model => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: 'nobody',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
}
