/** The conventions' own name of a provider, where they have one, from what the AI SDK calls it (`openai.responses`). */
export function providerName(provider: string): string {
  const known = KNOWN.find(([begins]) => provider === begins || provider.startsWith(`${begins}.`))
  return known?.[1] ?? provider.split('.')[0]!
}

const KNOWN: readonly (readonly [string, string])[] = [
  ['google.vertex', 'gcp.vertex_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['google', 'gcp.gemini'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['moonshotai', 'moonshot_ai'],
  ['xai', 'x_ai'],
]
