import { parseDocument } from 'yaml'
import type { JsonValue } from '../../domain/json.ts'
import { OpenapiError } from './connector-from-openapi.ts'

/** Documents of 2,000 operations are larger than files that a server reads again and again may be. */
const MAX_LENGTH = 64 * 1024 * 1024

/** The value of an OpenAPI document. @throws OpenapiError naming the line and column of what cannot be read */
export function parseOpenapiText(text: string): JsonValue {
  if (text.length > MAX_LENGTH) throw new OpenapiError(`is ${text.length} characters long; allowed are ${MAX_LENGTH}`)
  const plain = text.replace(/^\uFEFF/, '')
  if (/^\s*\{/.test(plain)) {
    try {
      return JSON.parse(plain) as JsonValue
    } catch {
      // The YAML parser reports line and column.
    }
  }
  // The parser looks for repeated keys in quadratic time.
  const document = parseDocument(plain, { uniqueKeys: false, logLevel: 'error' })
  const [error] = document.errors
  if (error) throw new OpenapiError(`cannot be read: ${error.message.split('\n', 1).join()}`)
  // Dates and other values that JSON does not have become texts.
  return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 10_000 }) ?? null)) as JsonValue
}
