import { setTimeout as delay } from 'node:timers/promises'
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  fromJsonSchema,
  type InputRequest,
  inputRequired,
  inputResponse,
  McpServer,
  type McpServerFactory,
  ResourceTemplate,
  type ServerContext,
  type ToolCallback,
} from '@modelcontextprotocol/server'
import { serveOverStdio } from '../../src/mcp/stdio.ts'

/**
 * The tools, resources and prompts the conformance suite asks a server for. Names and texts are the
 * suite's. Handlers that need input return it as `inputRequired`; on a 2025 connection the SDK turns that
 * into requests to the client.
 */
export const fixtureServer: McpServerFactory = ({ requestInfo }) => {
  // Over HTTP each request has a server of its own, which has no way to the streams of the others.
  const listChanged = requestInfo === undefined
  const server = new McpServer(
    { name: 'punchlist-fixture', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged },
        prompts: { listChanged },
        resources: { listChanged, subscribe: true },
      },
      requestState: { verify: (echoed, context) => state.verify(echoed, context) },
    },
  )
  addContentTools(server)
  addTalkingTools(server)
  addAskingTools(server)
  addResources(server)
  addPrompts(server)
  return server
}

const state = createRequestStateCodec<string>({ key: 'a key of the fixture, thirty-two bytes or more' })
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' }

function addContentTools(server: McpServer): void {
  const embedded = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource.' }
  addTool(server, 'test_simple_text', () => said('This is a simple text response for testing.'))
  addTool(server, 'test_image_content', () => ({ content: [image] }))
  addTool(server, 'test_audio_content', () => ({
    content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }],
  }))
  addTool(server, 'test_embedded_resource', () => ({ content: [{ type: 'resource', resource: embedded }] }))
  addTool(server, 'test_multiple_content_types', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      { type: 'resource', resource: { uri: 'test://mixed', mimeType: 'application/json', text: '{"test":"data"}' } },
    ],
  }))
  addTool(server, 'test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
}

/** Tools that send something before their answer. */
function addTalkingTools(server: McpServer): void {
  addTool(server, 'test_tool_with_logging', async ({ mcpReq }) => {
    for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', text)
      await delay(20)
    }
    return said('logged')
  })
  addTool(server, 'test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'not for those who did not ask')
    return said('logged')
  })
  addTool(server, 'test_tool_with_progress', async ({ mcpReq }) => {
    const { _meta: { progressToken } = {} } = mcpReq
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      }
      await delay(20)
    }
    return said('made progress')
  })
  addTool(server, 'test_trigger_tool_change', () => {
    server.sendToolListChanged()
    return said('tools changed')
  })
  addTool(server, 'test_trigger_prompt_change', () => {
    server.sendPromptListChanged()
    return said('prompts changed')
  })
  addTool(server, 'test_never_answers', () => new Promise(() => {}))
  // What a stray print in a library would do to a client that parses stdout.
  addTool(server, 'test_prints', () => {
    // oxlint-disable-next-line no-console
    console.log('not JSON-RPC')
    return said('printed')
  })
}

/** Tools that need something of the client before they can answer. */
function addAskingTools(server: McpServer): void {
  asking(server, 'test_sampling', { answer: sample('Test prompt for sampling') })
  asking(server, 'test_missing_capability', { answer: sample('Nobody declared sampling') })
  asking(server, 'test_elicitation', { user: elicit('Who are you?', { username: text, email: text }) })
  asking(server, 'test_streaming_elicitation', { user: elicit('Who are you?', { name: text }) })
  asking(server, 'test_elicitation_sep1034_defaults', { user: elicit('Check the defaults', DEFAULTS) })
  asking(server, 'test_elicitation_sep1330_enums', { user: elicit('Choose', CHOICES) })
  asking(server, 'test_input_required_result_elicitation', { user_name: elicit('Your name?', { name: text }) })
  asking(server, 'test_input_required_result_sampling', { capital_question: sample('The capital of France?') })
  asking(server, 'test_input_required_result_list_roots', { client_roots: inputRequired.listRoots() })
  asking(server, 'test_input_required_result_request_state', { confirm: elicit('Confirm', { ok: yesNo }) })
  asking(server, 'test_input_required_result_tampered_state', { confirm: elicit('Confirm', { ok: yesNo }) })
  asking(server, 'test_input_required_result_multiple_inputs', {
    user_name: elicit('Your name?', { name: text }),
    greeting: sample('Generate a greeting'),
    client_roots: inputRequired.listRoots(),
  })
  addTool(server, 'test_input_required_result_multi_round', async ({ mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, 'step1')?.['name']
    if (acceptedContent(mcpReq.inputResponses, 'step2')) return said(`${mcpReq.requestState<string>()} is done`)
    if (typeof name === 'string') {
      const inputRequests = { step2: elicit('Your colour?', { color: text }) }
      return inputRequired({ inputRequests, requestState: await state.mint(name) })
    }
    const inputRequests = { step1: elicit('Your name?', { name: text }) }
    return inputRequired({ inputRequests, requestState: await state.mint('nobody yet') })
  })
  addTool(server, 'test_input_required_result_capabilities', ({ mcpReq }) => {
    const { [CLIENT_CAPABILITIES_META_KEY]: able }: Record<string, unknown> = { ...mcpReq.envelope }
    const inputRequests: Record<string, InputRequest> = {}
    if (declares(able, 'sampling')) inputRequests['answer'] = sample('Anything')
    if (declares(able, 'elicitation')) inputRequests['user'] = elicit('Who are you?', { name: text })
    return inputRequired({ inputRequests })
  })
}

function declares(capabilities: unknown, name: string): boolean {
  return typeof capabilities === 'object' && capabilities !== null && name in capabilities
}

type Properties = ElicitRequestFormParams['requestedSchema']['properties']

const text = { type: 'string' as const }
const yesNo = { type: 'boolean' as const }
const DEFAULTS: Properties = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}
const titles = ['First', 'Second', 'Third'].map((title, index) => ({ const: `value${index + 1}`, title }))
const options = ['option1', 'option2', 'option3']
const CHOICES: Properties = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titles },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titles } },
}

function elicit(message: string, properties: Properties): InputRequest {
  const requestedSchema = { type: 'object' as const, properties, required: Object.keys(properties) }
  return inputRequired.elicit({ message, requestedSchema })
}

function sample(question: string): InputRequest {
  const content = { type: 'text' as const, text: question }
  return inputRequired.createMessage({ messages: [{ role: 'user', content }], maxTokens: 100 })
}

/** A tool that answers once every question has been answered, and asks all of them again until then. */
function asking(server: McpServer, name: string, inputRequests: Record<string, InputRequest>): void {
  addTool(server, name, async ({ mcpReq }) => {
    const answers = Object.keys(inputRequests).map(key => inputResponse(mcpReq.inputResponses, key))
    if (answers.every(({ kind }) => kind !== 'missing')) return said(JSON.stringify(answers))
    return inputRequired({ inputRequests, requestState: await state.mint(name) })
  })
}

function addTool(server: McpServer, name: string, run: ToolCallback): void {
  server.registerTool(name, { description: name.replaceAll('_', ' ') }, run)
}

function said(what: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: what }] }
}

function addResources(server: McpServer): void {
  const textual = { description: 'A text', mimeType: 'text/plain' }
  server.registerResource('text', 'test://static-text', textual, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }))
  server.registerResource('binary', 'test://static-binary', { description: 'A pixel' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PIXEL }],
  }))
  server.registerResource('watched', 'test://watched-resource', textual, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'watched' }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('data', template, { description: 'Data by id' }, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }],
  }))
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

function addPrompts(server: McpServer): void {
  const words = fromJsonSchema<{ arg1: string; arg2: string }>(strings('arg1', 'arg2'))
  const which = fromJsonSchema<{ resourceUri: string }>(strings('resourceUri'))
  server.registerPrompt('test_simple_prompt', { description: 'A prompt' }, () => prompt('This is a simple prompt.'))
  server.registerPrompt('test_prompt_with_arguments', { description: 'Two words', argsSchema: words }, args =>
    prompt(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'An image' }, () => ({
    messages: [{ role: 'user', content: image }, ...prompt('Please analyze the image above.').messages],
  }))
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A resource', argsSchema: which },
    ({ resourceUri: uri }) => {
      const resource = { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' }
      return {
        messages: [{ role: 'user', content: { type: 'resource', resource } }, ...prompt('Please process it.').messages],
      }
    },
  )
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks first' },
    ({ mcpReq }: ServerContext) => {
      const context = acceptedContent(mcpReq.inputResponses, 'user_context')?.['context']
      if (typeof context === 'string') return prompt(`In the context of ${context}`)
      return inputRequired({ inputRequests: { user_context: elicit('Which context?', { context: text }) } })
    },
  )
  server.server.setRequestHandler('completion/complete', () => ({ completion: { values: ['test'], hasMore: false } }))
}

function strings(...names: string[]) {
  return { type: 'object' as const, properties: Object.fromEntries(names.map(name => [name, text])), required: names }
}

function prompt(what: string) {
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: what } }] }
}

// As a program, this file serves the fixture over stdio.
if (import.meta.main) await serveOverStdio(fixtureServer)
