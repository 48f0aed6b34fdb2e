import type { Fields } from '../../core/lifecycle.ts'
import { whole } from '../../core/yaml/writing.ts'
import { FRONTMATTER, type FrontmatterKey } from '../record.ts'
import type { Values } from './values.ts'

/** A value as it reads when it has been written. */
export function storable(fields: Fields, key: FrontmatterKey): Values[FrontmatterKey] {
  const value = fields[key]
  if (FRONTMATTER[key] === 'json') return Array.isArray(value) ? value.map(whole).filter(text => text !== '') : []
  if (value === null || value === undefined || value === '') return null
  return FRONTMATTER[key] === 'integer' ? Number(value) : whole(value)
}
