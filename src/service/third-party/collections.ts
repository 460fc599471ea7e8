import { createHash } from 'node:crypto'
import { foldCase } from '../../model/domain/fold-case.ts'
import {
  counterOf,
  collectionNamed,
  type Collection,
  type CollectionItem,
  type CollectionPlace,
  type Conditions,
  conditionsOf,
  itemId,
  itemKey,
  type ListPage,
  testOfConditions,
  type Operator,
  placeId,
  plainText,
  type SortKey,
  type Step,
} from '../../model/domain/collection.ts'
import type { CollectionOwner, Connector, Responder } from '../../model/domain/connector.ts'
import { ruleAndFound } from '../../model/domain/errors.ts'
import {
  isBlank,
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  ownMember,
  parsedJson,
  parseJson,
  setOwn,
} from '../../model/domain/json.ts'
import { quote, shorten } from '../../model/domain/text.ts'
import { equalValues } from '../../model/domain/value-match.ts'
import type { Environment } from '../../state/environment.ts'
import { nextSequence, putItem } from '../../state/collections.ts'
import {
  type ItemPage,
  type ItemPosition,
  type ItemSet,
  itemPosition,
  type SortField,
} from '../../state/model/collection-index.ts'
import type { ReceivedRequest } from './http-messages.ts'
import { accountInTemplates, type Templates } from './template.ts'

/** Whose responders answer, and whose collections their steps act on. */
export interface ResponderContext {
  readonly environment: Environment
  readonly connector: Pick<Connector, 'connector' | 'collections' | 'error_body'> & {
    readonly responders: readonly Responder[]
  }
  readonly templates: Templates
  /** Called with each responder that a request matches; what it throws is in place of the answer. */
  readonly matched?: (responder: Responder) => void
  /** Throws in place of the usual answer when a step fails and the file has none of its own. */
  readonly refuse?: (failure: StepFailure) => never
}

/** Why a step failed. */
const FAILURES = { not_found: 404, conflict: 409, invalid: 400, refused: 422 } as const
type FailureCode = keyof typeof FAILURES

/** A step that failed: its changes and those of the steps before it are undone, and the answer says why. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure'
  readonly status: number

  constructor(
    readonly step: Step,
    readonly code: FailureCode,
    message: string,
    /** What templates of the answer see beside `error`. */
    readonly values: JsonObject = {},
  ) {
    super(message)
    this.status = step.otherwise?.status ?? FAILURES[code]
  }
}

/** What the templates of steps see, and whose items they act on. */
export interface StepScope {
  readonly context: ResponderContext
  /** Empty for a call without an account. */
  readonly accountId: string
  /** `request`, `account`, `person`. */
  readonly values: JsonObject
  readonly request: Pick<ReceivedRequest, 'url' | 'query'>
}

/** The results of steps by their names, beside what they saw, and headers that they add to the answer. */
export interface StepResults {
  readonly values: JsonObject
  readonly headers: Readonly<Record<string, string>>
}

/** With what makes the answer of their results, in one transaction. Templates are prepared. @throws StepFailure */
export function runSteps<Answer>(
  scope: StepScope,
  responder: Responder,
  response: (results: StepResults) => Answer,
): Answer {
  const { steps = [] } = responder
  const { environment } = scope.context
  // Outside the transaction: what a collection begins with stays when a step fails.
  for (const { collection } of steps)
    if (collection !== '') fillCollection(scope.context, collectionPlace(scope, collection))
  return environment.model.transact(() => {
    const run: Run = { ...scope, values: { ...scope.values }, headers: {} }
    for (const step of steps) {
      const result = ACTIONS[step.action](run, step)
      if (step.as === '') continue
      // A new object: with `{{@root}}` a result contains the values that its step has seen, and those must not contain it.
      run.values = { ...run.values }
      setOwn(run.values, step.as, result)
    }
    return response(run)
  })
}

/** Gives a collection the items that it begins with, once. Its templates have to be prepared. */
export function fillCollection(
  context: Omit<ResponderContext, 'connector'> & { readonly connector: CollectionOwner },
  place: CollectionPlace,
): void {
  const { environment, connector, templates } = context
  const { model, clock, ids } = environment
  const collection = collectionNamed(connector, place.collection)
  if (!collection || model.tables.counters.get(counterOf(place))) return
  const account = model.tables.accounts.get(place.account_id)
  const values = { account: account ? accountInTemplates(account) : null, person: account?.identifier ?? null }
  model.transact(() => {
    model.tables.counters.put({ id: counterOf(place), value: 0 })
    for (let at = 0; at < collection.seed.length + collection.generate; at++) {
      const seed = collection.seed[at] ?? {}
      const sequence = at + 1
      const seedItem = templates.render(seed, { values: { ...values, sequence }, clock, ids }) as JsonObject
      const item = withDefaults(context, collection, seedItem, { values: { request: null, ...values }, sequence })
      const id = itemId(place, itemKey(collection, item) ?? '')
      // Two items of a file may have the same key by the chance of its templates.
      if (model.tables.collection_items.get(id)) continue
      putItem(environment, place, { id, sequence: nextSequence(environment, place), item })
    }
  })
}

function collectionPlace(
  { context, accountId }: Pick<StepScope, 'context' | 'accountId'>,
  name: string,
): CollectionPlace {
  const { per = 'account' } = collectionNamed(context.connector, name) ?? {}
  return {
    connector: context.connector.connector,
    collection: name,
    account_id: per === 'environment' ? '' : accountId,
  }
}

interface Run extends StepScope {
  values: JsonObject
  readonly headers: Record<string, string>
}

const ACTIONS: { readonly [Action in Step['action']]: (run: Run, step: Step) => JsonValue } = {
  create: createItem,
  get: getItem,
  list: listItems,
  update: updateItems,
  delete: deleteItems,
  refuse: refuseStep,
}

function createItem(run: Run, step: Step): JsonValue {
  const { context, values } = run
  const { environment } = context
  const { model } = environment
  const place = collectionPlace(run, step.collection)
  const collection = collectionOfStep(run, step)
  // A request without a body gives no field.
  const rendered = renderValue(run, step.item ?? '{{request.body}}') ?? {}
  if (!isJsonObject(rendered)) throw new StepFailure(step, 'invalid', 'the body must be an object')
  refuseConflict(run, step, place)
  const sequence = nextSequence(environment, place)
  const item = withDefaults(context, collection, rendered, { values, sequence })
  const key = itemKey(collection, item)
  if (key === undefined) throw new StepFailure(step, 'invalid', `${collection.key} must be a text or a number`)
  const id = itemId(place, key)
  const existing = model.tables.collection_items.get(id)
  if (existing) {
    const message = `${step.collection} has an item with ${collection.key} ${quote(key)} already`
    throw new StepFailure(step, 'conflict', message, { existing: existing.item })
  }
  putItem(environment, place, { id, sequence, item })
  return item
}

function getItem(run: Run, step: Step): JsonValue {
  const [row] = matchingRows(run, step)
  return row?.item ?? null
}

function updateItems(run: Run, step: Step): JsonValue {
  const { context } = run
  const { collection_items } = context.environment.model.tables
  const collection = collectionOfStep(run, step)
  const place = collectionPlace(run, step.collection)
  const changed = matchingRows(run, step).map((row) => {
    const inner = { ...run, values: { ...run.values, item: row.item } }
    refuseConflict(inner, step, place, row)
    const set = renderValue(inner, step.set ?? {}) ?? {}
    if (!isJsonObject(set)) throw new StepFailure(step, 'invalid', 'the body must be an object')
    const item = changedItem(row.item, {
      set,
      add: renderValue(inner, step.add ?? {}),
      remove: renderValue(inner, step.remove ?? {}),
    })
    const key = itemKey(collection, item)
    if (key !== itemKey(collection, row.item)) {
      throw new StepFailure(step, 'invalid', `${collection.key} of an item cannot be changed`)
    }
    const after: CollectionItem = { ...row, item }
    collection_items.put(after)
    return item
  })
  return step.where ? changed : (changed[0] ?? null)
}

function deleteItems(run: Run, step: Step): JsonValue {
  const { collection_items } = run.context.environment.model.tables
  for (const { id } of matchingRows(run, step)) collection_items.remove(id)
  return null
}

function refuseStep(run: Run, step: Step): JsonValue {
  const conditions = conditionsFor(run, step.when ?? {})
  if (conditions.length === 0 || conditions.some(({ isEmpty }) => isEmpty) || !testOfConditions(conditions)(run.values))
    return null
  // Beside a limit, the other conditions only say when it holds.
  const limits = conditions.filter(({ operator }) => COMPARISONS[operator] !== undefined)
  const reasons = (limits.length > 0 ? limits : conditions).map(
    ({ path, operator, wanted }) => `${path} ${operatorReason(operator, wanted)}`,
  )
  throw new StepFailure(step, 'refused', `the request is refused because ${reasons.join(', and ')}`)
}

const COMPARISONS: Partial<Record<Operator, string>> = {
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
}

/** What is true of a value that meets a condition. Texts that it is compared with may be secrets, and are left out. */
function operatorReason(operator: Operator, wanted: JsonValue): string {
  const comparison = COMPARISONS[operator]
  if (comparison) return `${comparison} ${shorten(plainText(wanted), 100)}`
  if (operator === 'exists') return plainText(wanted) === 'true' ? 'is there' : 'is missing'
  return 'is not allowed'
}

/** The rows that a step names: exactly one by its key, or those that meet its conditions. */
function matchingRows(run: Run, step: Step): readonly CollectionItem[] {
  const { model } = run.context.environment
  const place = collectionPlace(run, step.collection)
  if (step.where) {
    const conditions = conditionsFor(run, step.where)
    const limit = step.action === 'get' ? 1 : Infinity
    const rows = matchingItems(model.collections.at(place), conditions, limit)
    if (rows.length === 0 && step.action === 'get') {
      throw new StepFailure(step, 'not_found', `${step.collection} has no such item`)
    }
    return rows
  }
  const key = plainText(renderValue(run, step.key ?? null))
  const row = model.tables.collection_items.get(itemId(place, key))
  if (row) return [row]
  const { key: field } = collectionOfStep(run, step)
  throw new StepFailure(step, 'not_found', `${step.collection} has no item with ${field} ${quote(key)}`)
}

/** @throws StepFailure when there is an item that meets `unless`, other than `itself` */
function refuseConflict(run: Run, step: Step, place: CollectionPlace, itself?: CollectionItem): void {
  if (!step.unless) return
  const conditions = conditionsFor(run, step.unless)
  const rows = matchingItems(run.context.environment.model.collections.at(place), conditions, 2)
  const existing = rows.find((row) => row.id !== itself?.id)
  if (!existing) return
  const names = conditions.map(({ path }) => path)
  const message = `${step.collection} already has an item that conflicts in ${[...new Set(names)].join(', ')}`
  throw new StepFailure(step, 'conflict', message, { existing: existing.item })
}

/** A condition without a value chooses no item, and not every one. */
function matchingItems(
  items: ItemSet,
  conditions: ReturnType<typeof conditionsOf>,
  limit: number,
): readonly CollectionItem[] {
  if (conditions.some(({ isEmpty }) => isEmpty)) return []
  return items.find({ conditions, words: [], wordFields: [], sort: [], skip: 0, limit }).items
}

/** The fields of the collection in their order, each with its default where no value is given, and then what else is given. */
function withDefaults(
  context: Pick<ResponderContext, 'environment' | 'templates'>,
  { key, fields }: Collection,
  partial: JsonObject,
  { values, sequence }: { values: JsonObject; sequence: number },
): JsonObject {
  const { environment, templates } = context
  const { clock, ids } = environment
  const item: JsonObject = {}
  // A default sees what is given and the fields before its own.
  const itemSoFar = { ...partial }
  // Assigned afterwards: V8 is slow to add members after a spread in one literal when what is spread has many shapes.
  const scopeValues = { ...values }
  scopeValues['sequence'] = sequence
  scopeValues['item'] = itemSoFar
  const scope = { values: scopeValues, clock, ids }
  for (const name of Object.keys(fields)) {
    let value = ownMember(partial, name) ?? null
    // An empty key names no item.
    if (value === null || (value === '' && name === key)) {
      value = copyOf(templates.render(fields[name] ?? null, scope))
      setOwn(itemSoFar, name, value)
    }
    setOwn(item, name, value)
  }
  for (const name of Object.keys(partial)) if (!Object.hasOwn(fields, name)) setOwn(item, name, partial[name] ?? null)
  if (!isBlank(ownMember(item, key))) return item
  const { [key]: _blank, ...others } = item
  return { [key]: templates.render('{{id}}', { values: {}, clock, ids }), ...others }
}

/** A default can be the item (`{{item}}`) or contain it, and an item must not contain itself. */
function copyOf(value: JsonValue): JsonValue {
  return typeof value === 'object' && value !== null ? parseJson(jsonText(value)) : value
}

/** A value that is null changes nothing: that is what a template of a missing input comes to. */
function changedItem(item: JsonObject, { set, add, remove }: Record<'set' | 'add' | 'remove', JsonValue>): JsonObject {
  const changed = Object.assign(Object.create(null) as JsonObject, item)
  for (const [name, value] of Object.entries(set as JsonObject)) if (value !== null) changed[name] = value
  for (const [name, value] of Object.entries(add as JsonObject)) {
    const list = [...valueList(changed[name])]
    for (const each of valueList(value)) if (!list.some((element) => equalValues(element, each))) list.push(each)
    changed[name] = list
  }
  for (const [name, value] of Object.entries(remove as JsonObject)) {
    const gone = valueList(value)
    changed[name] = valueList(changed[name]).filter((each) => !gone.some((one) => equalValues(one, each)))
  }
  return changed
}

function valueList(value: JsonValue | undefined): JsonValue[] {
  if (value === undefined || value === null || value === '') return []
  return Array.isArray(value) ? value : [value]
}

function listItems(run: Run, step: Step): JsonValue {
  const { context } = run
  const items = context.environment.model.collections.at(collectionPlace(run, step.collection))
  // A filter that the request does not give is none.
  const conditions = conditionsFor(run, step.where ?? {}).filter(({ isEmpty }) => !isEmpty)
  const words = foldCase(plainText(renderValue(run, step.search?.text ?? '')))
    .split(/\s+/)
    .filter((word) => word !== '')
  const sort = sortOf(plainText(renderValue(run, step.sort ?? '')))
  const wordFields = step.search?.in ?? []
  const hash = queryHash([placeId(collectionPlace(run, step.collection)), conditions, words, sort])
  const asked = askedPage(run, step, hash)
  const page = items.find({ conditions, words, wordFields, sort, ...asked })
  run.values['page'] = pageView(run, step.page, asked, page, (last) => tokenAfter(last, sort, hash))
  const rows = page.items.map(({ item }) => item)
  const { show } = step
  return show === undefined ? rows : rows.map((item) => renderValue({ ...run, values: { ...run.values, item } }, show))
}

interface AskedPage {
  readonly limit: number
  readonly skip: number
  readonly after: ItemPosition | undefined
}

/** @throws StepFailure for a limit, number or token that is not valid */
function askedPage(run: Run, step: Step, hash: string): AskedPage {
  const { page } = step
  if (!page) return { limit: Infinity, skip: 0, after: undefined }
  const whole = (name: string, template: JsonValue | undefined, least: number): number | undefined => {
    const text = plainText(renderValue(run, template ?? null))
    if (text === '') return undefined
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
    if (value >= least) return value
    const rule = ruleAndFound(`must be a whole number of at least ${least}`, quote(text))
    throw new StepFailure(step, 'invalid', `${name} ${rule}`)
  }
  const limit = Math.min(whole('the limit', page.limit, 1) ?? page.default, page.most)
  const skip =
    whole('the offset', page.offset, 0) ?? ((whole('the number of the page', page.number, 1) ?? 1) - 1) * limit
  const token = plainText(renderValue(run, page.token ?? null))
  const after = token === '' ? undefined : readToken(token, hash)
  if (token !== '' && !after) {
    throw new StepFailure(step, 'invalid', 'the page token is not valid for these filters and this order')
  }
  return { limit, skip, after }
}

/** What templates see as `page`. */
function pageView(
  run: Run,
  page: ListPage | undefined,
  { limit, skip }: AskedPage,
  listed: ItemPage,
  tokenOf: (last: CollectionItem) => string,
): JsonObject {
  const { items, hasMore } = listed
  const last = items.at(-1)
  const isNumbered = page?.number !== undefined
  const at = isNumbered ? skip / limit + 1 : skip
  const step = isNumbered ? 1 : limit
  const isCounted = isNumbered || page?.offset !== undefined
  const next = !hasMore || !last ? null : isCounted ? at + step : page?.token === undefined ? null : tokenOf(last)
  const previous = isCounted && skip > 0 ? Math.max(at - step, isNumbered ? 1 : 0) : null
  const link = page?.link
  const [next_url, previous_url] = [next, previous].map((value) => {
    return link === undefined || value === null ? null : withParameter(run, link, plainText(value))
  }) as [string | null, string | null]
  const links = [next_url && `<${next_url}>; rel="next"`, previous_url && `<${previous_url}>; rel="prev"`]
  const header = links.filter((each) => each !== null).join(', ')
  if (header !== '') run.headers['Link'] = header
  return {
    limit: Number.isFinite(limit) ? limit : items.length,
    number: isNumbered ? at : null,
    offset: skip,
    has_more: hasMore,
    next,
    previous,
    next_url,
    previous_url,
    total: listed.total,
  }
}

function withParameter({ request: { url, query } }: StepScope, name: string, value: string): string {
  const parameters = new URLSearchParams(query)
  parameters.set(name, value)
  return `${url}?${parameters.toString()}`
}

function queryHash(parts: unknown): string {
  return createHash('sha256').update(jsonText(parts)).digest('base64url').slice(0, 10)
}

function tokenAfter(row: CollectionItem, sort: readonly SortField[], hash: string): string {
  const { keys, sequence } = itemPosition(row, sort)
  return Buffer.from(jsonText([hash, sequence, ...keys])).toString('base64url')
}

/** The position that a token names; undefined for one of another query, and for any other text. */
function readToken(token: string, hash: string): ItemPosition | undefined {
  const value = parsedJson(Buffer.from(token, 'base64url').toString('utf8'))
  if (!Array.isArray(value) || value[0] !== hash) return undefined
  const [, sequence, ...keys] = value as [string, number, ...SortKey[]]
  return { sequence, keys }
}

/** `-received_at,subject`; `-` alone is the newest first. */
function sortOf(text: string): SortField[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) =>
      part.startsWith('-') ? { path: part.slice(1), descending: true } : { path: part, descending: false },
    )
}

function conditionsFor(run: Run, conditions: Conditions): ReturnType<typeof conditionsOf> {
  return conditionsOf(renderValue(run, conditions) as JsonObject)
}

function collectionOfStep({ context }: Run, step: Step): Collection {
  const collection = collectionNamed(context.connector, step.collection)
  if (!collection) throw new Error(`${context.connector.connector} has no collection ${step.collection}`)
  return collection
}

function renderValue({ context, values }: Pick<StepScope, 'context' | 'values'>, value: JsonValue): JsonValue {
  const { clock, ids } = context.environment
  return context.templates.render(value, { values, clock, ids })
}
