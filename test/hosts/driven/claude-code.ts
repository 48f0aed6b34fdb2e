import { join } from 'node:path'
import { anthropicModel } from '../models/anthropic.ts'
import { type DrivenHost, native } from './host.ts'

export const claudeCode: DrivenHost = {
  name: 'claude-code',
  model: anthropicModel,
  session: /"session_id":"([^"]+)"/,

  init: [],
  prepare: () => {},

  command: (prompt, resumed) => [
    join(native('@anthropic-ai/claude-code'), 'claude'),
    '-p',
    prompt,
    ...(resumed === undefined ? [] : ['--resume', resumed]),
    '--allowedTools',
    'mcp__punchlist',
    '--output-format',
    'json',
  ],

  env: model => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: 'nobody',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
}
