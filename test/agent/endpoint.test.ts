import { describe, expect, test } from 'vitest'
import { endpointOf } from '../../src/agent/endpoint.ts'
import { Problem } from '../../src/core/problem.ts'

function refusal(model: string | undefined, env: Record<string, string> = {}) {
  try {
    endpointOf(model, env)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('was not refused')
}

describe('a model is named as PROVIDER/NAME', () => {
  test.each([
    ['openai/gpt-5', 'https://api.openai.com/v1', 'gpt-5'],
    ['openrouter/anthropic/claude-x', 'https://openrouter.ai/api/v1', 'anthropic/claude-x'],
    ['groq/fast', 'https://api.groq.com/openai/v1', 'fast'],
    ['mistral/large', 'https://api.mistral.ai/v1', 'large'],
    ['deepseek/chat', 'https://api.deepseek.com/v1', 'chat'],
  ])('%s is known', (named, url, model) => {
    const key = `${named.split('/')[0]!.toUpperCase()}_API_KEY`
    expect(endpointOf(named, { [key]: 'k' })).toMatchObject({ url, model, key: 'k', keyVariable: key })
  })

  test.each([
    ['ollama/qwen3:8b', 'http://localhost:11434/v1'],
    ['lmstudio/local', 'http://localhost:1234/v1'],
  ])('%s is local and needs no key', (named, url) => {
    expect(endpointOf(named, {})).toMatchObject({ url, key: undefined })
  })

  test('any other is reached at the URL in its variable, with the key in its variable', () => {
    const env = { MY_CORP_2_BASE_URL: 'https://models.example/v1/', MY_CORP_2_API_KEY: ' k ' }
    expect(endpointOf('my-corp.2/m', env)).toMatchObject({
      url: 'https://models.example/v1',
      key: 'k',
      host: 'models.example',
    })
  })

  test('a URL that is set comes before the one that is known', () => {
    expect(endpointOf('openai/m', { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }).url).toBe('http://127.0.0.1:9/v1')
  })
})

describe('what is missing is named at once, with the variable to set', () => {
  test.each([undefined, '', 'gpt-5', '/gpt-5', 'openai/'])('no model: %j', named => {
    expect(refusal(named)).toMatchObject({ code: 'bad_input', hint: expect.stringContaining('PUNCHLIST_MODEL') })
  })

  test('URL and key', () => {
    const { message, hint, details } = refusal('acme/m')
    expect(message).toBe('For acme/m, ACME_BASE_URL and ACME_API_KEY are not set')
    expect(hint).toContain('Set ACME_BASE_URL to')
    expect(hint).toContain('Set ACME_API_KEY to the key.')
    expect(details).toEqual({ missing: ['ACME_BASE_URL', 'ACME_API_KEY'] })
  })

  test('the key of one that is known', () => {
    expect(refusal('openai/m').message).toBe('For openai/m, OPENAI_API_KEY is not set')
  })

  test.each(['ftp://x/v1', 'nonsense', 'https://user:pw@models.example/v1'])('a URL that cannot be used: %s', url => {
    const { message, hint } = refusal('acme/m', { ACME_BASE_URL: url, ACME_API_KEY: 'k' })
    expect(message).toContain('ACME_BASE_URL')
    expect(message + hint).not.toContain('pw')
  })

  test('a key of several words is not told, only its variable', () => {
    const { message, hint } = refusal('openai/m', { OPENAI_API_KEY: 'secret one' })
    expect(message).toContain('OPENAI_API_KEY')
    expect(message + hint).not.toContain('secret')
  })
})
