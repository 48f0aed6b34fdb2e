/** A JSON schema whose objects have the fields it names and no others. */
export function closedSchema<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closedSchema) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const closed = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedSchema(value)]))
  return (isObjectSchema(schema) ? { ...closed, additionalProperties: false } : closed) as T
}

function isObjectSchema(schema: object): boolean {
  const { type, properties } = schema as Readonly<Record<string, unknown>>
  return type === 'object' && typeof properties === 'object'
}
