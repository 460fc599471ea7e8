import { parseDocument, visit } from 'yaml'
import { exactNumber, extentOf, type JsonValue, parsedJson, valuesIn } from '../../model/domain/json.ts'
import { OpenapiError } from './connector-from-openapi.ts'

/** Documents of 2,000 operations are larger than files that a server reads again and again may be. */
const MAX_LENGTH = 64 * 1024 * 1024
const MAX_DEPTH = 400
/** The parser looks for the anchor of an alias among all anchors. */
const MAX_ALIASES = 10_000
/** Values of a document once its aliases are written out. */
const MAX_VALUES = 5_000_000

/** The value of an OpenAPI document. @throws OpenapiError that says why it cannot be read, and where */
export function parseOpenapiText(text: string): JsonValue {
  if (text.length > MAX_LENGTH) throw new OpenapiError(`is ${text.length} characters long; allowed are ${MAX_LENGTH}`)
  if (extentOf(text).depth > MAX_DEPTH) throw documentTooDeep()
  const plain = text.replace(/^\uFEFF/, '')
  try {
    // The YAML parser reports line and column of a text that is neither.
    return (/^\s*\{/.test(plain) ? parsedJson(plain) : undefined) ?? yamlValue(plain)
  } catch (error) {
    if (error instanceof RangeError) throw documentTooDeep()
    // An alias of no anchor.
    throw error instanceof ReferenceError ? new OpenapiError(`cannot be read: ${error.message}`) : error
  }
}

function documentTooDeep(): OpenapiError {
  return new OpenapiError(`is nested too deep; allowed are ${MAX_DEPTH} levels`)
}

function yamlValue(text: string): JsonValue {
  // The parser looks for repeated keys in quadratic time. The schema is that of JSON's values: dates are texts.
  const options = { uniqueKeys: false, schema: 'core', resolveKnownTags: false, logLevel: 'error' } as const
  const document = parseDocument(text, options)
  const [error] = document.errors
  if (error?.message.startsWith('Maximum call stack')) throw documentTooDeep()
  if (error) throw new OpenapiError(`cannot be read: ${error.message.split('\n', 1).join()}`)
  let aliases = 0
  visit(document, {
    Alias: () => void (aliases += 1),
    Scalar: (_key, node) => {
      if (typeof node.value === 'number') node.value = exactNumber(node.source ?? '') || node.value
      if (typeof node.value !== 'number' || Number.isFinite(node.value)) return
      throw new OpenapiError(`has the number ${node.value}, which JSON does not have`)
    },
  })
  if (aliases > MAX_ALIASES) throw new OpenapiError(`has ${aliases} aliases; allowed are ${MAX_ALIASES}`)
  const value = (document.toJS({ maxAliasCount: -1 }) ?? null) as JsonValue
  if (valuesIn(value) > MAX_VALUES) {
    throw new OpenapiError(`has aliases that write out more than ${MAX_VALUES} values; write out what they name`)
  }
  return value
}
