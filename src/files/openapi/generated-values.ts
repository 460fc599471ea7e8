import { isJsonObject, type JsonObject, type JsonValue, listAt, objectAt, ownMember } from '../../model/domain/json.ts'
import { isNumberType, trimmedAt, typeOf } from './api-document.ts'

/**
 * The value of a property by its name and schema, often a template; undefined leaves it to Prism's generator. `written` is
 * what the document itself gives as an example or default.
 */
export type ValueOf = (name: string, schema: JsonObject, written: JsonValue | undefined) => JsonValue | undefined

/** Makes a value that fits a schema; undefined where it cannot. */
export type MakeValue = (schema: JsonObject) => JsonValue | undefined

/** Texts of a document as templates that come to the same texts. */
export function literalValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    return value.replaceAll(/(\\?)\{\{/g, (_whole, slash: string) => `${slash}${slash}{{'{{'}}`)
  }
  if (Array.isArray(value)) return value.map(literalValue)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, literalValue(item)]))
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: '{{uuid}}',
  'date-time': '{{now}}',
  date: '{{date}}',
  email: "{{faker 'internet.email'}}",
  uri: 'https://example.com/{{id}}',
  url: 'https://example.com/{{id}}',
  ipv4: "{{faker 'internet.ipv4'}}",
  ipv6: "{{faker 'internet.ipv6'}}",
}

/** Texts by the end of their property's name, in snake case; the first that fits. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/(^|_)(id|key|token|sid|gid|guid)$/, '{{id}}'],
  [
    /(^|_)(created|updated|modified|deleted|started|ended|expires|timestamp|datetime)(_at|_on|_time|_date)?$|_at$/,
    '{{now}}',
  ],
  [/(^|_)(date|day|birthday)$/, '{{date}}'],
  [/(^|_)e?mail(_address)?$/, "{{faker 'internet.email'}}"],
  [/(^|_)(first|given)_name$/, "{{faker 'person.firstName'}}"],
  [/(^|_)(last|family)_name$|(^|_)surname$/, "{{faker 'person.lastName'}}"],
  [/(^|_)(user_?name|login|handle)$/, "{{faker 'internet.username'}}"],
  [/(^|_)(full_name|display_name|author|owner|assignee|contact|customer)(_name)?$/, "{{faker 'person.fullName'}}"],
  [/(^|_)(company|organi[sz]ation|employer)(_name)?$/, "{{faker 'company.name'}}"],
  [/(^|_)(phone|mobile|fax|tel)(_number)?$/, "{{faker 'phone.number'}}"],
  [/(^|_)(street|address|address_?line_?1|line1)$/, "{{faker 'location.streetAddress'}}"],
  [/(^|_)city$/, "{{faker 'location.city'}}"],
  [/(^|_)(zip|postal|post)_?code$|(^|_)zip$/, "{{faker 'location.zipCode'}}"],
  [/(^|_)country_code$/, "{{faker 'location.countryCode'}}"],
  [/(^|_)country$/, "{{faker 'location.country'}}"],
  [/(^|_)currency(_code)?$/, "{{faker 'finance.currencyCode'}}"],
  [/(^|_)(url|uri|href|link|website)$/, 'https://example.com/{{id}}'],
  [/(^|_)(title|subject|summary|headline)$/, "{{faker 'lorem.words'}}"],
  [/(^|_)(description|text|message|comment|note|notes|content|body)$/, "{{faker 'lorem.sentence'}}"],
]

const PEOPLE = /contact|person|people|user|customer|member|employee|author|candidate|lead|patient|guest/
const COMPANIES = /compan|organi[sz]ation|account|vendor|supplier|team|workspace/

/**
 * Values that vary between items, as templates: by format, then by name. Texts with a length or pattern of their own, and
 * numbers with limits that few values meet, are left to Prism's generator, whose values fit.
 */
export function valuesOf(resource: string, makeValue: MakeValue): ValueOf {
  return (name, schema, written) => {
    if (written !== undefined) return literalValue(written)
    const type = typeOf(schema)
    if (type === 'boolean') return false
    if (type === 'integer' || type === 'number') return numberOf(type, schema)
    if (type !== 'string') return undefined
    // Inside of an object Prism's generator knows no patterns.
    if (ownMember(schema, 'pattern') !== undefined) return makeValue(schema)
    const format = trimmedAt(schema, 'format')
    const isPlain =
      Number(ownMember(schema, 'minLength') ?? 0) <= 1 && Number(ownMember(schema, 'maxLength') ?? 255) >= 100
    if (format !== '' && format in FORMATS) return FORMATS[format]
    if (!isPlain || (format !== '' && !['string', 'text'].includes(format))) return undefined
    const snake = snakeCase(name)
    if (snake === 'name') return resourceName(snakeCase(resource))
    return NAMES.find(([ending]) => ending.test(snake))?.[1] ?? "{{faker 'lorem.word'}}"
  }
}

function resourceName(resource: string): string {
  if (PEOPLE.test(resource)) return "{{faker 'person.fullName'}}"
  return COMPANIES.test(resource) ? "{{faker 'company.name'}}" : "{{faker 'commerce.productName'}}"
}

/** From 1 to 1000, as Prism does, where the schema has no limits. */
function numberOf(type: 'integer' | 'number', schema: JsonObject): string | undefined {
  const [above, below] = [ownMember(schema, 'exclusiveMinimum'), ownMember(schema, 'exclusiveMaximum')]
  const isStrict = above !== undefined || below !== undefined
  if (ownMember(schema, 'multipleOf') !== undefined || (isStrict && type === 'number')) return undefined
  const least = typeof above === 'number' ? above + 1 : ownMember(schema, 'minimum')
  const most = typeof below === 'number' ? below - 1 : ownMember(schema, 'maximum')
  const min = typeof least === 'number' ? least : Math.min(1, typeof most === 'number' ? most : 1)
  const max = typeof most === 'number' ? most : min < 1000 ? 1000 : min + 1000
  const isWide = min < max && Math.abs(min) <= MAX_MAGNITUDE && Math.abs(max) <= MAX_MAGNITUDE
  if (!isWide || (type === 'integer' && !(Number.isInteger(min) && Number.isInteger(max)))) return undefined
  return type === 'integer'
    ? `{{faker 'number.int' min=${min} max=${max}}}`
    : `{{faker 'number.float' min=${min} max=${max} fractionDigits=2}}`
}

const MAX_MAGNITUDE = 1_000_000_000

const INSTANT = /^\{\{(now|date)\}\}$/
const FUTURE = /expir|end|due|until|next/i

/** The value of one of several items, by its number from 0: the next word of an enumeration, an earlier day. */
export function valueOfItem(name: string, value: JsonValue, schema: JsonObject, at: number): JsonValue {
  if (isJsonObject(value)) {
    const inside = objectAt(schema, 'properties')
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, each]) => [key, valueOfItem(key, each, objectAt(inside, key), at)]))
  }
  const words: JsonValue[] = listAt(schema, 'enum').filter((word) => word !== null)
  if (words.includes(value)) return words[(words.indexOf(value) + at) % words.length] ?? value
  const [, helper] = INSTANT.exec(typeof value === 'string' ? value : '') ?? []
  return helper === undefined || FUTURE.test(name) ? value : `{{${helper} '-${at + 1}d'}}`
}

/** Values of an error's body, by what the mock knows about a failure. */
export const errorValue: ValueOf = (name, schema, written) =>
  (ownMember(schema, 'enum') === undefined ? failureValue(name, schema) : undefined) ??
  (written === undefined ? undefined : literalValue(written))

function failureValue(name: string, schema: JsonObject): JsonValue | undefined {
  const type = typeOf(schema)
  const snake = snakeCase(name)
  if (isNumberType(type) && /(status|code)$/.test(snake)) return '{{error.status}}'
  if (type !== 'string') return undefined
  if (/(message|detail|details|description|title|reason|text|phrase|help)$/.test(snake)) return '{{error.message}}'
  return /(code|error|type|name|category)$/.test(snake) ? '{{error.code}}' : undefined
}

/** A name that is not taken yet: of one that is, the first with a number at its end. */
export function unusedName(stem: string, isTaken: (name: string) => boolean, most = Infinity): string {
  let name = stem.slice(0, most)
  for (let number = 2; isTaken(name); number++) name = `${stem.slice(0, most - `_${number}`.length)}_${number}`
  return name
}

/** `pageToken`, `Page-Token` and `page_token` are `page_token`. */
export function snakeCase(text: string): string {
  return text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z\d]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase()
}
