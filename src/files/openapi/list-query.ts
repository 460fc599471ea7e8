import { isJsonObject, type JsonObject, type JsonValue, objectAt, ownMember } from '../../model/domain/json.ts'
import { isNumberType, typeOf } from './api-document.ts'
import { snakeCase } from './generated-values.ts'

const LIMITS = /^(limit|page_?size|per_?page|count|max_?results|max|take|size|top|first|page_limit)$/
const TOKENS =
  /^(cursor|page_?token|next_page_token|after|next|marker|continuation|starting_token|page_cursor|next_cursor)$/
const OFFSETS = /^(offset|skip|start|start_at|start_index)$/
const NUMBERS = /^(page|page_?number|page_no|p)$/
const SEARCHES = /^(q|query|search|search_term|keyword|keywords|filter_text|text)$/

const KNOWN_NAMES = [LIMITS, TOKENS, OFFSETS, NUMBERS, SEARCHES]

const SCALARS = ['string', 'integer', 'number', 'boolean']

/** A parameter of a request, by the name that it is sent with. */
export interface SentParameter {
  readonly name: string
  readonly in: string
  readonly schema: JsonObject
}

/** Filters by fields of `item`, search, and one way of paging; `parents` are the filters that its path has. */
export function listStep(
  collection: string,
  parameters: readonly SentParameter[],
  item: JsonObject,
  parents: JsonObject,
): { step: JsonObject; hasToken: boolean } {
  const query = parameters.filter((each) => each.in === 'query')
  const parameterNamed = (names: RegExp): { schema: JsonObject; template: string } | undefined => {
    const parameter = query.find(({ name }) => names.test(snakeCase(name)))
    return parameter && { schema: parameter.schema, template: queryTemplate(parameter.name) }
  }
  const [limit, token, offset, number, search] = KNOWN_NAMES.map(parameterNamed)
  const position = token
    ? { token: token.template }
    : offset
      ? { offset: offset.template }
      : number && { number: number.template }
  const filters = query.filter(({ name }) => {
    const property = ownMember(objectAt(item, 'properties'), name)
    const isKnown = KNOWN_NAMES.some((names) => names.test(snakeCase(name)))
    return isJsonObject(property) && SCALARS.includes(typeOf(property)) && !isKnown
  })
  const where = { ...parents, ...Object.fromEntries(filters.map(({ name }) => [name, queryTemplate(name)])) }
  const page = (limit ?? position) && {
    ...(limit && { limit: limit.template, ...pageLimits(limit.schema) }),
    ...position,
  }
  const step: JsonObject = {
    list: collection,
    ...(Object.keys(where).length > 0 && { where }),
    ...(search && { search: { text: search.template } }),
    ...(page && { page }),
  }
  return { step, hasToken: token !== undefined }
}

function queryTemplate(name: string): string {
  return `{{request.query.${/^\w+$/.test(name) ? name : `[${name}]`}}}`
}

function pageLimits(schema: JsonObject): JsonObject {
  const whole = (key: string): number | undefined => {
    const value = ownMember(schema, key)
    return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1000 ? value : undefined
  }
  const [usual, most] = [whole('default'), whole('maximum')]
  return { ...(usual !== undefined && { default: usual }), ...(most !== undefined && { most }) }
}

/** The sample of a list with the items in their place, and what it says about pages by templates. */
export function listBody(
  sample: JsonValue | undefined,
  schema: JsonObject,
  at: readonly string[],
  paging: { hasToken: boolean },
): JsonValue {
  const [name, ...innerPath] = at
  if (name === undefined) return '{{items}}'
  const around = isJsonObject(sample) ? sample : {}
  const described = (key: string): JsonObject => objectAt(objectAt(schema, 'properties'), key)
  const further = Object.entries(around).map(
    ([key, value]) => [key, pageValue(key, value, described(key), paging)] as const,
  )
  return {
    ...Object.fromEntries(further),
    [name]: listBody(ownMember(around, name), described(name), innerPath, paging),
  }
}

function pageValue(name: string, value: JsonValue, schema: JsonObject, paging: { hasToken: boolean }): JsonValue {
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        pageValue(key, inner, objectAt(objectAt(schema, 'properties'), key), paging),
      ]),
    )
  }
  const type = typeOf(schema)
  const snake = snakeCase(name)
  const isNumber = isNumberType(type)
  if (type === 'boolean' && /^has_(more|next|next_page)$/.test(snake)) return '{{page.has_more}}'
  if (isNumber && /^(total|total_?(count|items|results|size|elements)|count|size)$/.test(snake)) return '{{page.total}}'
  if (isNumber && /^(limit|page_?size|per_?page)$/.test(snake)) return '{{page.limit}}'
  if (isNumber && /^(offset|skip|start)$/.test(snake)) return '{{default page.offset 0}}'
  if (isNumber && /^(page|page_?number|current_page)$/.test(snake)) return '{{default page.number 1}}'
  const isNext = /^(next_?(page_?)?(token|cursor|marker)|cursor|marker|end_cursor|after)$/.test(snake)
  if (type !== 'string' || !isNext || !paging.hasToken) return value
  return [ownMember(schema, 'type')].flat().includes('null') ? '{{page.next}}' : "{{default page.next ''}}"
}
