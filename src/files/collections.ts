import { type Step, STEP_ACTIONS, type StepAction } from '../model/domain/collection.ts'
import type { CannedResponse } from '../model/domain/connector.ts'
import {
  isBlank,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectAt,
  ownMember,
  withoutUndefined,
} from '../model/domain/json.ts'
import { Hints, listAllowed } from '../model/domain/suggestion.ts'
import type { ParsedCollection, ParsedStep } from '../model/schema/collections.ts'
import { repeatedNames, type Report } from '../model/schema/parts.ts'
import { type Path, problemValue, valuesAt } from '../model/schema/problems.ts'

export function toStep(document: ParsedStep): Step {
  const {
    create,
    get,
    list,
    update,
    delete: removed,
    refuse,
    as: _as,
    otherwise: response,
    page: paging,
    ...rest
  } = document
  const collection = create ?? get ?? list ?? update ?? removed ?? ''
  return {
    ...stepResult(document),
    collection,
    ...withoutUndefined(rest),
    ...(paging && { page: withoutUndefined(paging) }),
    ...(refuse && { when: refuse }),
    ...(response && { otherwise: withoutUndefined(response) }),
  }
}

/** What a responder answers that does not say it. */
export function responseAfter(step: Step | undefined): Pick<CannedResponse, 'status'> & { body: JsonValue } {
  if (!step || step.as === '') return { status: 204, body: null }
  const result = `{{${step.as}}}`
  if (step.action === 'list') return { status: 200, body: { [step.as]: result, next: '{{page.next}}' } }
  return { status: step.action === 'create' ? 201 : 200, body: result }
}

const REQUEST = ['request', 'account', 'person']

export interface TemplatePlace {
  readonly path: Path
  readonly roots: readonly string[]
}

/** Templates whose place alone says which names they can use. */
const TEMPLATES: readonly { readonly at: readonly string[]; readonly roots: readonly string[] }[] = [
  { at: ['credentials.send.headers', 'credentials.send.query'], roots: ['credentials'] },
  { at: ['path', 'query', 'headers', 'body'].map((key) => `tools.*.call.${key}`), roots: ['input', 'account'] },
  { at: ['tools.*.result'], roots: ['response', 'input', 'account'] },
  { at: ['rate_limit.otherwise'], roots: [...REQUEST, 'error'] },
  { at: ['error_body'], roots: [...REQUEST, 'error', 'existing'] },
  { at: ['headers', 'body'].map((key) => `responders.*.sequence.*.${key}`), roots: REQUEST },
]

/** Where a connector or an extension has templates, and the names that they can use there. */
export function* templatePlaces(document: JsonObject): Generator<TemplatePlace> {
  for (const { at, roots } of TEMPLATES)
    for (const place of at) for (const { path } of valuesAt(document, place.split('.'))) yield { path, roots }
  for (const name of Object.keys(objectAt(document, 'collections'))) {
    yield { path: ['collections', name, 'fields'], roots: ['item', ...REQUEST, 'sequence'] }
    yield { path: ['collections', name, 'seed'], roots: ['account', 'person', 'sequence'] }
  }
  for (const { path, value: responder } of valuesAt(document, ['responders', '*'])) {
    const roots = [...REQUEST]
    for (const { path: inStep, value: step } of valuesAt(responder, ['steps', '*'], path)) {
      const isCreate = isJsonObject(step) && ownMember(step, 'create') !== undefined
      for (const key of ['key', 'where', 'item', 'search', 'sort', 'page', 'refuse'])
        yield { path: [...inStep, key], roots }
      for (const key of ['set', 'add', 'remove', 'unless', 'show'])
        yield { path: [...inStep, key], roots: isCreate ? roots : [...roots, 'item'] }
      yield { path: [...inStep, 'otherwise'], roots: [...REQUEST, 'error', 'existing'] }
      roots.push(...resultNames(step))
    }
    for (const key of ['headers', 'body']) yield { path: [...path, 'respond', key], roots }
  }
}

/** The variables that templates after a step see. */
function resultNames(document: JsonValue): string[] {
  if (!isJsonObject(document)) return []
  const { action, as } = stepResult(Object.fromEntries(Object.entries(document)))
  return [...(as === '' ? [] : [as]), ...(action === 'list' ? ['page'] : [])]
}

/** What a step does, and the variable of its result; empty where it has none. */
function stepResult(document: Readonly<Record<string, unknown>>): { action: StepAction; as: string } {
  const action = STEP_ACTIONS.find((each) => document[each] !== undefined) ?? 'refuse'
  if (action === 'refuse' || action === 'delete') return { action, as: '' }
  const isOfMany = action === 'list' || (action === 'update' && document['where'] !== undefined)
  const { as } = document
  return { action, as: typeof as === 'string' ? as : isOfMany ? 'items' : 'item' }
}

/** The keys of a document that this is about; a rule sees them only where nothing in them is wrong. */
interface CollectionKeys {
  collections?: Readonly<Record<string, ParsedCollection>> | undefined
  responders?: readonly { steps?: readonly ParsedStep[] | undefined }[]
}

/** Steps act on collections that there are, and items of `seed` have different keys. */
export function checkCollections({ collections = {}, responders = [] }: CollectionKeys, report: Report): void {
  const names = Object.keys(collections)
  const hints = new Hints()
  for (const [at, { steps = [] }] of responders.entries()) {
    for (const [index, step] of steps.entries()) {
      const { action } = stepResult(step)
      const target = step[action]
      if (typeof target !== 'string' || names.includes(target)) continue
      const mistake = `${problemValue(target)}${hints.didYouMean(target, names)}`
      const which = names.length > 0 ? ` (${listAllowed(target, names, hints)})` : ''
      const allowed = `a collection of this file${which}`
      report(['responders', at, 'steps', index, action], { found: mistake, allowed })
    }
  }
  for (const [name, each] of Object.entries(collections)) {
    checkKeys(each, (path, problem) => report(['collections', name, ...path], problem))
  }
}

/** A value of the key that identifies no item, or a key of two items. Null and an empty text become a generated key. */
function checkKeys({ key, fields, seed }: ParsedCollection, report: Report): void {
  const keyIn = (item: JsonObject, path: Path): string | undefined => {
    const value = ownMember(item, key)
    if (value === undefined || isBlank(value)) return undefined
    if (typeof value !== 'object' && typeof value !== 'boolean') return String(value)
    report([...path, key], { found: problemValue(value), allowed: `a text or a number, because ${key} is the key` })
    return undefined
  }
  keyIn(fields, ['fields'])
  const keys = seed.map((item, at) => keyIn(item, ['seed', at]))
  for (const { index, before } of repeatedNames(keys)) {
    const mistake = `${problemValue(seed[index]?.[key])} as its ${key} for the second time`
    report(['seed', index], { found: mistake, allowed: `a ${key} that differs from item ${before}` })
  }
}
