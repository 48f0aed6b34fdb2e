import type { ModelServer, Script, Step } from '../script.ts'
import { type Protocol, serveModel, spelled } from './serving.ts'

/** A model that speaks Google's generateContent. Requests that offer no tools choose a model, or summarise. */
export async function geminiModel(script: Script): Promise<ModelServer> {
  return await serveModel(script, generateContent)
}

interface Part {
  readonly text?: string
  readonly functionResponse?: { readonly response?: unknown }
}

interface Content {
  readonly role?: string
  readonly parts?: readonly Part[]
}

interface Sent {
  readonly systemInstruction?: Content
  readonly contents?: readonly Content[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[]
}

const generateContent: Protocol<Sent> = {
  read(sent) {
    const tools = toolsOf(sent)
    if (tools.length === 0) return undefined
    const parts = (sent.contents ?? []).filter(({ role }) => role !== 'model').flatMap(content => content.parts ?? [])
    return {
      tools,
      texts: [...(sent.systemInstruction?.parts ?? []), ...parts].flatMap(({ text }) => (text ? [text] : [])),
      results: parts.flatMap(part => (part.functionResponse ? [JSON.stringify(part.functionResponse.response)] : [])),
    }
  },
  answer(step, sent, path) {
    if (path.includes('countTokens')) return { document: { totalTokens: 10 } }
    const document = {
      candidates: [
        { index: 0, content: { role: 'model', parts: [partFor(step, toolsOf(sent))] }, finishReason: 'STOP' },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: 'scripted',
    }
    return path.includes('streamGenerateContent') ? { stream: [`data: ${JSON.stringify(document)}`] } : { document }
  },
}

function toolsOf({ tools = [] }: Sent): string[] {
  return tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name))
}

function partFor(step: Step, tools: readonly string[]) {
  if ('say' in step) return { text: step.say }
  return { functionCall: { name: spelled(step.call, tools), args: step.input } }
}
