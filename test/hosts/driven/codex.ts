import { join } from 'node:path'
import { responsesModel } from '../models/responses.ts'
import { type DrivenHost, PROGRAMS, put } from './host.ts'

export const codex: DrivenHost = {
  name: 'codex',
  model: responsesModel,
  session: /"thread_id":"([^"]+)"/,

  init: [],
  prepare: ({ home, project }, model) => put(home, '.codex/config.toml', settings(project, model)),

  command: (prompt, resumed) => [
    process.execPath,
    join(PROGRAMS, '@openai/codex/bin/codex.js'),
    'exec',
    ...(resumed === undefined ? [] : ['resume']),
    '--json',
    '--skip-git-repo-check',
    '--disable',
    'plugins',
    '--dangerously-bypass-hook-trust',
    '--dangerously-bypass-approvals-and-sandbox',
    ...(resumed === undefined ? [] : [resumed]),
    prompt,
  ],

  env: () => ({ SCRIPTED_KEY: 'nobody' }),
}

/** With so small a context that it is cut after the first answer. */
export const codexCutEarly: DrivenHost = {
  ...codex,
  prepare: ({ home, project }, model) =>
    put(home, '.codex/config.toml', `model_auto_compact_token_limit = 14\n${settings(project, model)}`),
}

/** A project that is not trusted has no hooks and no servers; its list is offered where it is switched on. */
function settings(project: string, model: string): string {
  return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[analytics]
enabled = false
[tools]
update_plan = { enabled = true }
[projects.${JSON.stringify(project)}]
trust_level = "trusted"
`
}
