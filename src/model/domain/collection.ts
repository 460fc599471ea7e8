import { foldCase } from './fold-case.ts'
import type { Collection, CollectionItem } from './generated/tables.ts'
import { exactNumber, isBlank, isJsonObject, isNumber, type JsonObject, jsonText, type JsonValue } from './json.ts'
import { valueAt } from './value-match.ts'

export type { Collection, CollectionItem, ListPage, Step } from './generated/tables.ts'

/** Names are variables of templates too. */
export const COLLECTION_NAME = /^[A-Za-z]\w{0,63}$/

/** A collection of a connector by its name, which may come from a user. */
export function collectionNamed(
  { collections = {} }: { collections?: Readonly<Record<string, Collection>> },
  name: string,
): Collection | undefined {
  return Object.hasOwn(collections, name) ? collections[name] : undefined
}

/** What names the items that belong together: connector, collection and account. */
export type CollectionPlace = Pick<CollectionItem, 'connector' | 'collection' | 'account_id'>

/** A text that no other collection of an account has. */
export function collectionName({ connector, collection }: Pick<CollectionPlace, 'connector' | 'collection'>): string {
  return `${connector}/${collection}`
}

/** A text that no other place has. Names of connectors and collections contain no slash. */
export function placeId({ connector, collection, account_id }: CollectionPlace): string {
  // Nearly every id needs no encoding, and this test is much cheaper than the encoding.
  const account = UNENCODED.test(account_id) ? account_id : encodeURIComponent(account_id.toWellFormed())
  return `${connector}/${collection}/${account}`
}

/** The counter of a collection's items. It exists once the collection has got the items that it begins with. */
export function counterOf(place: CollectionPlace): string {
  return `collection ${placeId(place)}`
}

const UNENCODED = /^\w*$/

export function itemId(place: CollectionPlace, key: string): string {
  // A text that is joined is one string in memory, and one that is concatenated keeps its parts: each row has such an id.
  return [placeId(place), key].join('/')
}

/** The text of an item's key; undefined when it has none. */
export function itemKey({ key }: Pick<Collection, 'key'>, item: JsonObject): string | undefined {
  const value = valueAt(item, key)
  return (typeof value === 'string' && value !== '') || isNumber(value) ? String(value) : undefined
}

export const STEP_ACTIONS = ['create', 'get', 'list', 'update', 'delete', 'refuse'] as const
export type StepAction = (typeof STEP_ACTIONS)[number]

/** Conditions on an item by dotted path: a value, or values by operator. */
export type Conditions = JsonObject

export const OPERATORS = ['eq', 'not', 'gt', 'gte', 'lt', 'lte', 'contains', 'starts_with', 'exists'] as const
export type Operator = (typeof OPERATORS)[number]

/** A condition whose templates were evaluated. */
export interface Condition {
  readonly path: string
  readonly operator: Operator
  readonly wanted: JsonValue
}

/** The conditions of a document, one for each path and operator; `isEmpty` ones have no value to compare with. */
export function conditionsOf(document: Conditions): (Condition & { readonly isEmpty: boolean })[] {
  return Object.entries(document).flatMap(([path, value]) => {
    const operators = isJsonObject(value) ? Object.entries(value) : [['eq', value] as const]
    return operators.map(([operator, wanted]) => ({
      path,
      operator: operator as Operator,
      wanted,
      isEmpty: isBlank(wanted) || (Array.isArray(wanted) && wanted.every(isBlank)),
    }))
  })
}

/** Whether a value meets all of the conditions. What they compare with is prepared once, because a list tests all items. */
export function testOfConditions(conditions: readonly Condition[]): (value: JsonObject) => boolean {
  const tests = conditions.map(({ path, operator, wanted }) => {
    const [read, test] = [pathReader(path), operatorTest(operator, wanted)]
    return (value: JsonObject): boolean => test(read(value))
  })
  const [only = () => true, ...others] = tests
  return others.length === 0 ? only : (value) => tests.every((test) => test(value))
}

/** As `valueAt`, prepared for many items. An item has no function but those of its prototype. */
function pathReader(path: string): (item: JsonObject) => JsonValue | undefined {
  if (path.includes('.') || path === '__proto__') return (item) => valueAt(item, path)
  return (item) => {
    const value: unknown = item[path]
    return typeof value === 'function' ? undefined : (value as JsonValue | undefined)
  }
}

type Test = (field: JsonValue | undefined) => boolean

/** A list in an item meets a condition when one of its values does; a list of wanted values asks for any of them. */
function operatorTest(operator: Operator, wanted: JsonValue): Test {
  if (operator === 'exists') {
    const isWanted = wanted === true || wanted === 'true'
    return (field) => !isBlank(field) === isWanted
  }
  if (operator === 'not') {
    const isSame = operatorTest('eq', wanted)
    return (field) => !isSame(field)
  }
  if (Array.isArray(wanted)) {
    const tests = wanted.map((each) => operatorTest(operator, each))
    return (field) => tests.some((test) => test(field))
  }
  const test = TESTS[operator](wanted)
  return (field) => (Array.isArray(field) ? field.some(test) : test(field))
}

/** A value as a text: empty for a missing one, JSON for lists and objects. */
export function plainText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? jsonText(value) : String(value)
}

/** A text that is no number, such as `soon`, is neither more nor less than a number. */
const ordered =
  (isMet: (order: number) => boolean) =>
  (wanted: JsonValue): Test => {
    const [key, number, isOrdered] = [sortKey(wanted), numberOf(wanted), isNumber(wanted)]
    return (field) => {
      if (isBlank(field)) return false
      return isMet(
        isOrdered || isNumber(field) ? numberOrder(numberOf(field), number) : compareKeys(sortKey(field), key),
      )
    }
  }

/** NaN for what writes no number. One of more digits than a value has is more, or less, than all values, as its double is. */
function numberOf(value: JsonValue | undefined): number | bigint {
  if (isNumber(value)) return value
  try {
    return typeof value === 'string' ? exactNumber(value) : Number(value)
  } catch {
    return Number(value)
  }
}

/** NaN where one of them is. */
function numberOrder(a: number | bigint, b: number | bigint): number {
  if (a === b) return 0
  return a < b ? -1 : a > b ? 1 : NaN
}

const textual =
  (isMet: (text: string, wanted: string) => boolean) =>
  (wanted: JsonValue): Test => {
    const text = foldCase(plainText(wanted))
    return (field) => isMet(foldCase(plainText(field)), text)
  }

const TESTS: Readonly<Record<Exclude<Operator, 'exists' | 'not'>, (wanted: JsonValue) => Test>> = {
  // Numbers and truth values equal the texts that write them, because parameters of a query are texts.
  eq: (wanted) => {
    const text = plainText(wanted)
    return (field) => field === wanted || plainText(field) === text
  },
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  contains: textual((text, wanted) => text.includes(wanted)),
  starts_with: textual((text, wanted) => text.startsWith(wanted)),
}

/** What a value is sorted by; null for a missing one. */
export type SortKey = number | bigint | string | null

const INSTANT = /^\d{4}-\d\d-\d\d(?:T|$)/

/** Dates and instants become instants in UTC, so that those of different zones sort by time. */
export function sortKey(value: JsonValue | undefined): SortKey {
  if (isBlank(value)) return null
  if (isNumber(value)) return value
  const text = plainText(value)
  const isInUtc = text.length === 24 && text.endsWith('Z')
  if (isInUtc || !INSTANT.test(text)) return text
  const at = Date.parse(text)
  return Number.isNaN(at) ? text : new Date(at).toISOString()
}

/** Numbers before texts, and what is missing last. */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  if (isNumber(a) === isNumber(b)) return a < b ? -1 : 1
  return isNumber(a) ? -1 : 1
}
