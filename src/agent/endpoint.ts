import { Problem } from '../core/problem.ts'

/** Where a model is reached, and under which name. */
export interface Endpoint {
  readonly provider: string
  readonly model: string
  readonly url: string
  /** Undefined where none is needed. It is sent to the endpoint and shown nowhere. */
  readonly key: string | undefined
  /** What may be told of the URL. */
  readonly host: string
  /** The variables it comes from: what to set when it does not work. */
  readonly urlVariable: string
  readonly keyVariable: string
}

/** What need not be set. Every other provider is reached at the URL in its variable. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  groq: 'https://api.groq.com/openai/v1',
  mistral: 'https://api.mistral.ai/v1',
  deepseek: 'https://api.deepseek.com/v1',
  ollama: 'http://localhost:11434/v1',
  lmstudio: 'http://localhost:1234/v1',
}

/** The endpoint of `PROVIDER/NAME`, as the environment has it. Everything that is missing is named at once. */
export function endpointOf(named: string | undefined, env: Readonly<Record<string, string | undefined>>): Endpoint {
  const [, provider = '', model = ''] = /^([^/]*)\/(.+)$/s.exec(named?.trim() ?? '') ?? []
  const prefix = provider.toUpperCase().replace(/[^A-Z0-9]/g, '_')
  if (!/[A-Z0-9]/.test(prefix)) throw noModel(named)
  const urlVariable = `${prefix}_BASE_URL`
  const keyVariable = `${prefix}_API_KEY`
  const known = Object.hasOwn(WELL_KNOWN, provider.toLowerCase()) ? WELL_KNOWN[provider.toLowerCase()] : undefined
  const given = env[urlVariable]?.trim() || known
  const key = env[keyVariable]?.trim() || undefined
  const url = given === undefined ? undefined : usable(given, urlVariable, keyVariable)
  const missing = [
    ...(url
      ? []
      : [
          {
            variable: urlVariable,
            example: `the URL of the endpoint, such as https://${prefix.toLowerCase().replaceAll('_', '-')}.example/v1`,
          },
        ]),
    ...(key || (url && isLocal(url)) ? [] : [{ variable: keyVariable, example: 'the key' }]),
  ]
  if (!url || missing.length > 0) throw notSet(`${provider}/${model}`, missing)
  if (key && !/^[!-~]+$/.test(key)) {
    throw new Problem(
      'bad_input',
      `${keyVariable} cannot be sent as a key`,
      `Set ${keyVariable} to the key alone, without spaces.`,
    )
  }
  return { provider, model, url: url.href.replace(/\/+$/, ''), key, host: url.host, urlVariable, keyVariable }
}

function noModel(named: string | undefined): Problem {
  const fact = named?.trim() ? `"${named.slice(0, 60)}" is not PROVIDER/NAME` : 'No model is named'
  const hint = `Give --model PROVIDER/NAME or set PUNCHLIST_MODEL, for example openai/gpt-5. Known by themselves: ${Object.keys(WELL_KNOWN).join(', ')}.`
  return new Problem('bad_input', fact, hint, { missing: ['PUNCHLIST_MODEL'] })
}

function notSet(model: string, missing: readonly { readonly variable: string; readonly example: string }[]): Problem {
  const names = missing.map(({ variable }) => variable)
  const verb = names.length > 1 ? 'are' : 'is'
  return new Problem(
    'bad_input',
    `For ${model.slice(0, 100)}, ${names.join(' and ')} ${verb} not set`,
    missing.map(({ variable, example }) => `Set ${variable} to ${example}.`).join(' '),
    { missing: names },
  )
}

function usable(text: string, urlVariable: string, keyVariable: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Problem(
      'bad_input',
      `${urlVariable} is no URL of http or https`,
      `Set ${urlVariable}, for example to https://api.openai.com/v1.`,
    )
  }
  if (url.username || url.password) {
    throw new Problem(
      'bad_input',
      `${urlVariable} holds a name or a password`,
      `Take it out of the URL, and set ${keyVariable} to the key.`,
    )
  }
  return url
}

function isLocal({ hostname }: URL): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
