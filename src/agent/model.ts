import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModel } from 'ai'
import type { Endpoint } from './endpoint.ts'
import { unreachable } from './failing.ts'

/** The model of an endpoint that speaks OpenAI's chat completions. */
export function modelAt(endpoint: Endpoint): LanguageModel {
  // The SDK would write its remarks to the console.
  ;(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false
  const { provider, model, url, key } = endpoint
  return createOpenAICompatible({
    name: provider,
    baseURL: url,
    ...(key === undefined ? {} : { apiKey: key }),
    includeUsage: true,
    fetch: async (...request) => {
      try {
        return await fetch(...request)
      } catch (error) {
        // Nobody listens there: that does not change within the seconds that the SDK would wait.
        throw unreachable(error, endpoint) ?? error
      }
    },
  }).chatModel(model)
}
