import { expect, test } from 'vitest'
import { Problem } from '../../src/core/problem.ts'
import { errorType, exceptionOf } from '../../src/otel/failing.ts'
import { providerName } from '../../src/otel/provider.ts'

test.each([
  ['openai.responses', 'openai'],
  ['anthropic.messages', 'anthropic'],
  ['google.generative-ai', 'gcp.gemini'],
  ['google.vertex.chat', 'gcp.vertex_ai'],
  ['vertex.anthropic.messages', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['azure.responses', 'azure.ai.openai'],
  ['mistral.chat', 'mistral_ai'],
  ['moonshotai.chat', 'moonshot_ai'],
  ['xai.chat', 'x_ai'],
  ['ollama.chat', 'ollama'],
  ['xaiver', 'xaiver'],
])('the provider %s is told as %s', (ours, theirs) => {
  expect(providerName(ours)).toBe(theirs)
})

const overloaded = Object.assign(new Error('slow down'), { name: 'AI_APICallError', statusCode: 429 })

test.each([
  ['a problem by its code', new Problem('store_busy', 'busy', 'wait'), 'store_busy'],
  [
    'what it was told as by its cause',
    new Error('store_busy: busy', { cause: new Problem('store_busy', '', '') }),
    'store_busy',
  ],
  ['an answer by its status', overloaded, '429'],
  [
    'several attempts by the last',
    Object.assign(new Error('3 attempts'), { name: 'AI_RetryError', lastError: overloaded }),
    '429',
  ],
  ['an error by its name', new TypeError('x is not a function'), 'TypeError'],
  ['an abort by its name', new DOMException('gone', 'AbortError'), 'AbortError'],
  ['anything else by no name', 'gone', '_OTHER'],
])('what went wrong has a short name: %s', (_, error, type) => {
  expect(errorType(error)).toBe(type)
})

test('a message and its stack are recorded without the password in an address', () => {
  const { message, stack } = exceptionOf(new Error('cannot reach postgres://ann:hunter2@db/app'))
  expect(message).toBe('cannot reach postgres://ann:[redacted]@db/app')
  expect(stack).toContain('names.test.ts')
  expect(stack).not.toContain('hunter2')
})
