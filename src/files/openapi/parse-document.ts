import { parseDocument, visit } from 'yaml'
import { exactNumber, extentOf, type JsonValue, parsedJson, valuesIn } from '../../model/domain/json.ts'
import { OpenapiError } from './connector-from-openapi.ts'

const MAX_DEPTH = 400
/** Values of a document once its aliases are written out: a few lines can grow into gigabytes. */
const MAX_VALUES = 5_000_000

/** The value of an OpenAPI document. @throws OpenapiError that says why it cannot be read, and where */
export function parseOpenapiText(text: string): JsonValue {
  if (extentOf(text).depth > MAX_DEPTH) throw documentTooDeep()
  const plain = text.replace(/^\uFEFF/, '')
  // The YAML parser reports line and column of a text that is neither.
  return (/^\s*\{/.test(plain) ? parsedJson(plain) : undefined) ?? yamlValue(plain)
}

function documentTooDeep(): OpenapiError {
  return new OpenapiError(`is nested too deep; allowed are ${MAX_DEPTH} levels`)
}

function yamlValue(text: string): JsonValue {
  // The parser looks for repeated keys in quadratic time. The schema is that of JSON's values: dates are texts.
  const options = { uniqueKeys: false, schema: 'core', resolveKnownTags: false, logLevel: 'error' } as const
  const document = parseDocument(text, options)
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'number') node.value = exactNumber(node.source ?? '') || node.value
      if (typeof node.value !== 'number' || Number.isFinite(node.value)) return
      throw new OpenapiError(`has the number ${node.value}, which JSON does not have`)
    },
  })
  try {
    const [error] = document.errors
    if (error) throw error
    const value = (document.toJS({ maxAliasCount: -1 }) ?? null) as JsonValue
    if (valuesIn(value) <= MAX_VALUES) return value
  } catch (error) {
    const { message } = error as Error
    if (message.startsWith('Maximum call stack')) throw documentTooDeep()
    throw new OpenapiError(`cannot be read: ${message.split('\n', 1).join()}`)
  }
  throw new OpenapiError(`has aliases that write out more than ${MAX_VALUES} values; write out what they name`)
}
