import { z } from 'zod'
import { COLLECTION_NAME, OPERATORS, type Step, STEP_ACTIONS, type StepAction } from '../domain/collection.ts'
import type { ResponderAnswer } from '../domain/connector.ts'
import { isJsonObject, type JsonObject, type JsonValue, own, present } from '../domain/json.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { type Problem, type Path, shown, valuesAt } from '../schema/problems.ts'
import {
  anyJson,
  headerMap,
  jsonObject,
  nonEmpty,
  type Report,
  strict,
  text,
  wholeNumber,
  withRule,
} from '../schema/parts.ts'

/*
 * Collections of connector files, and the steps of responders that act on them.
 */

const name = z
  .string()
  .regex(COLLECTION_NAME, { error: 'a letter, then up to 63 letters, digits and underscores' })
  .meta({ title: 'name' })

const collection = strict({
  key: z
    .string()
    .regex(/^[^.]+$/, { error: 'the name of a field, without a dot' })
    .default('id')
    .describe('The field that identifies an item; an item without one gets a generated one.'),
  per: z
    .enum(['account', 'environment'])
    .default('account')
    .describe('account: each account has items of its own; environment: all accounts share them.'),
  fields: jsonObject
    .default({})
    .describe(
      'What an item gets where it is given no value or null, in this order: templates over item (what is known so far), request, account, person and sequence.',
    ),
  seed: z
    .array(jsonObject)
    .default([])
    .describe(
      'The items that are there from the start: templates over account, person and sequence. fields completes them.',
    ),
  generate: wholeNumber(0, 100_000)
    .default(0)
    .describe('How many items are made from fields alone, after those of seed.'),
})

export const collections = z.record(name, collection)

/** Items of collections by name, as a seed has them for an account. */
export const collectionItems = z.record(name, z.array(jsonObject))

export const conditions = withRule(
  jsonObject.meta({
    title: 'conditions',
    description: 'Values by dotted path, or values by operator; a list asks for any of its values.',
    additionalProperties: {
      anyOf: [
        { type: ['string', 'number', 'boolean', 'null', 'array'] },
        { type: 'object', propertyNames: { enum: [...OPERATORS] } },
      ],
    },
  }),
  (document: Partial<JsonObject>, report: Report) => {
    for (const [path, wanted] of Object.entries(document)) {
      if (!isJsonObject(wanted)) continue
      for (const operator of Object.keys(wanted)) {
        if (OPERATORS.some((known) => known === operator)) continue
        const found = `an unknown operator${didYouMean(operator, OPERATORS)}`
        report([path, operator], { found, allowed: OPERATORS.join(', '), atKey: true })
      }
    }
  },
)

/** What a refusal says in place of the usual answer. */
export const otherwise = strict({
  status: wholeNumber(400, 599).optional().describe('Absent: the status of the usual answer.'),
  headers: headerMap.optional().describe('Headers beside those of the usual answer.'),
  body: anyJson
    .optional()
    .describe('Templates over error (status, code, message), existing and what responders see. Absent: error_body.'),
})

const page = withRule(
  strict({
    limit: anyJson
      .optional()
      .describe(
        'How many items the caller wants: a template. A value that is not a whole number of at least 1 is answered with 400.',
      ),
    default: wholeNumber(1, 1000).default(20).describe('The limit where the template comes out empty.'),
    most: wholeNumber(1, 1000).default(100).describe('A larger limit counts as this one.'),
    token: anyJson
      .optional()
      .describe('The page token: a template. It is bound to filters and order. page.next is the next token.'),
    offset: anyJson.optional().describe('How many items to skip: a template. page.next is the next offset.'),
    number: anyJson.optional().describe('The page, counted from 1: a template. page.next is the next number.'),
    link: nonEmpty
      .optional()
      .describe('The query parameter that page.next goes into: adds a Link header with next and prev.'),
  }),
  ({ token, offset, number, link }, report) => {
    const given = Object.entries({ token, offset, number }).filter(([, value]) => value !== undefined)
    if (given.length > 1) {
      const found = `with ${given.map(([key]) => key).join(' and ')}`
      report([], { found, allowed: 'one of token, offset and number' })
    }
    if (link !== undefined && given.length === 0) {
      const found = 'set without token, offset and number'
      report(['link'], { found, allowed: 'link together with one of token, offset and number', atKey: true })
    }
  },
)

/** Which keys go with an action, beside `as` and `otherwise`. */
const KEYS: Readonly<Record<StepAction, readonly string[]>> = {
  create: ['item', 'unless'],
  get: ['key', 'where'],
  list: ['where', 'search', 'sort', 'page', 'show'],
  update: ['key', 'where', 'set', 'add', 'remove', 'unless'],
  delete: ['key', 'where'],
  refuse: [],
}

const step = withRule(
  strict({
    create: name
      .optional()
      .describe('Creates an item in this collection. 409 when its key is taken or an item meets unless.'),
    get: name.optional().describe('Finds one item of this collection; 404 when there is none.'),
    list: name.optional().describe('Lists items of this collection.'),
    update: name
      .optional()
      .describe('Changes the item with this key (404 when there is none), or all that meet the conditions.'),
    delete: name
      .optional()
      .describe('Deletes the item with this key (404 when there is none), or all that meet the conditions.'),
    refuse: conditions
      .optional()
      .describe('422 when the variables meet all conditions; paths start at a variable: request.body.to.'),
    key: anyJson.optional().describe('The key of the item: a template.'),
    where: conditions
      .optional()
      .describe(
        'Which items. In list a condition whose value comes out empty is left out; elsewhere it finds nothing.',
      ),
    item: anyJson.optional().describe('The new item: templates. Absent: the body of the request.'),
    unless: conditions
      .optional()
      .describe('409 when another item meets these conditions. An empty value is met by none.'),
    set: anyJson
      .optional()
      .describe('The changed fields: templates that see the item before as item. Null changes nothing.'),
    add: jsonObject.optional().describe('By field: a value or a list of values that goes into its list, once each.'),
    remove: jsonObject.optional().describe('By field: a value or a list of values that goes out of its list.'),
    search: strict({
      text: text.describe('Every word of it has to be part of one of the fields, in any case of letters: a template.'),
      in: z.array(nonEmpty).default([]).describe('The fields; all when empty.'),
    })
      .optional()
      .describe('Of list: only items that have these words.'),
    sort: text
      .optional()
      .describe(
        'Fields by comma, - in front of one for descending order, - alone for the newest first: a template. Absent: creation order.',
      ),
    page: page.optional().describe('One page of the list. Absent: all of it.'),
    show: anyJson.optional().describe('How each listed item looks: templates over item. Absent: the item itself.'),
    as: name.optional().describe('The variable of the result. Absent: item, or items where there can be several.'),
    otherwise: otherwise.optional().describe('The answer when the step fails, in place of the usual one.'),
  }),
  (document, report) => {
    const actions = STEP_ACTIONS.filter((action) => document[action] !== undefined)
    const [action, ...others] = actions
    if (!action || others.length > 0) {
      const found = action ? `with ${actions.join(' and ')}` : 'without an action'
      report([], { found, allowed: `exactly one of ${STEP_ACTIONS.join(', ')}` })
      return
    }
    const fitting = [action, ...KEYS[action], 'as', 'otherwise']
    for (const key of Object.keys(document)) {
      if (fitting.includes(key)) continue
      report([key], { found: `set beside ${action}`, allowed: fitting.join(', '), atKey: true })
    }
    if (!KEYS[action].includes('key')) return
    if ((document.key === undefined) === (document.where === undefined)) {
      const found = document.key === undefined ? 'without key and where' : 'with both key and where'
      report([], { found, allowed: 'exactly one of key and where' })
    }
  },
)

/** The names that variables of templates have already. */
const RESERVED_NAMES = ['request', 'account', 'person', 'error', 'existing', 'page', 'sequence']

export const steps = withRule(z.array(step).min(1), (list, report) => {
  for (const [index, each] of list.entries()) {
    const as = isJsonObject(each) ? own(each, 'as') : undefined
    if (typeof as !== 'string' || !RESERVED_NAMES.includes(as)) continue
    report([index, 'as'], { found: `${shown(as)}, which is a variable already`, allowed: 'another name' })
  }
})

type ParsedStep = z.output<typeof step>

export function toStep(document: ParsedStep): Step {
  const {
    create,
    get,
    list,
    update,
    delete: removed,
    refuse,
    as: _as,
    otherwise: answer,
    page: paging,
    ...rest
  } = document
  const collection = create ?? get ?? list ?? update ?? removed ?? ''
  return {
    ...resultOf(document),
    collection,
    ...present(rest),
    ...(paging && { page: present(paging) }),
    ...(refuse && { when: refuse }),
    ...(answer && { otherwise: present(answer) }),
  }
}

/** What a responder answers that does not say it. */
export function answerAfter(step: Step | undefined): Pick<ResponderAnswer, 'status'> & { body: JsonValue } {
  if (!step || step.as === '') return { status: 204, body: null }
  const result = `{{${step.as}}}`
  if (step.action === 'list') return { status: 200, body: { [step.as]: result, next: '{{page.next}}' } }
  return { status: step.action === 'create' ? 201 : 200, body: result }
}

/** Where collections and responders have templates, and the names that they can use there. */
export function* responderTemplates(document: JsonObject): Generator<TemplatePlace> {
  for (const [collectionName] of entriesOf(own(document, 'collections'))) {
    const path = ['collections', collectionName]
    yield { path: [...path, 'fields'], roots: ['item', ...REQUEST, 'sequence'] }
    yield { path: [...path, 'seed'], roots: ['account', 'person', 'sequence'] }
  }
  yield { path: ['error_body'], roots: [...REQUEST, 'error', 'existing'] }
  for (const { path: at } of ['headers', 'body'].flatMap((key) =>
    valuesAt(document, ['responders', '*', 'sequence', '*', key]),
  )) {
    yield { path: at, roots: REQUEST }
  }
  for (const [at, responder] of entriesOf(own(document, 'responders'))) {
    const path = ['responders', Number(at)]
    const roots = [...REQUEST]
    for (const [index, each] of entriesOf(isJsonObject(responder) ? own(responder, 'steps') : undefined)) {
      const inStep = [...path, 'steps', Number(index)]
      const ofItem = [...roots, 'item']
      for (const key of ['key', 'where', 'item', 'search', 'sort', 'page']) yield { path: [...inStep, key], roots }
      for (const key of ['set', 'add', 'remove', 'unless', 'show']) {
        yield {
          path: [...inStep, key],
          roots: isJsonObject(each) && own(each, 'create') === undefined ? ofItem : roots,
        }
      }
      yield { path: [...inStep, 'refuse'], roots }
      yield { path: [...inStep, 'otherwise'], roots: [...REQUEST, 'error', 'existing'] }
      roots.push(...resultNames(each))
    }
    for (const key of ['headers', 'body']) {
      yield { path: [...path, 'respond', key], roots }
    }
  }
}

const REQUEST = ['request', 'account', 'person']

export interface TemplatePlace {
  readonly path: Path
  readonly roots: readonly string[]
}

/** The variables that templates after a step see. */
function resultNames(document: JsonValue): string[] {
  if (!isJsonObject(document)) return []
  const { action, as } = resultOf(Object.fromEntries(Object.entries(document)))
  return [...(as === '' ? [] : [as]), ...(action === 'list' ? ['page'] : [])]
}

/** What a step does, and the variable of its result; empty where it has none. */
function resultOf(document: Readonly<Record<string, unknown>>): { action: StepAction; as: string } {
  const action = STEP_ACTIONS.find((each) => document[each] !== undefined) ?? 'refuse'
  if (action === 'refuse' || action === 'delete') return { action, as: '' }
  const isOfMany = action === 'list' || (action === 'update' && document['where'] !== undefined)
  const { as } = document
  return { action, as: typeof as === 'string' ? as : isOfMany ? 'items' : 'item' }
}

function entriesOf(value: JsonValue | undefined): [string, JsonValue][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/** Steps act on collections that there are, and items of `seed` have different keys. */
export function checkCollections(
  { collections: all = {}, responders }: { collections?: unknown; responders?: unknown },
  report: Report,
): void {
  const names = isJsonObject(all) ? Object.keys(all) : []
  for (const { path, value } of valuesAt({ responders } as JsonObject, ['responders', '*', 'steps', '*'])) {
    for (const action of STEP_ACTIONS) {
      const named = isJsonObject(value) ? own(value, action) : undefined
      if (typeof named !== 'string' || names.includes(named)) continue
      const allowed = names.length > 0 ? `a collection of this file (${names.join(', ')})` : 'a collection of this file'
      report([...path, action], { found: `${shown(named)}${didYouMean(named, names)}`, allowed })
    }
  }
  for (const [collectionName, each] of entriesOf(all as JsonValue)) {
    for (const { path, ...problem } of keyProblems(each)) report(['collections', collectionName, ...path], problem)
  }
}

/**
 * Values of the key, in `fields` and `seed`, that identify no item, and keys that two items have. Null and an empty text become
 * a generated key.
 */
function keyProblems(document: JsonValue): Problem[] {
  const key = isJsonObject(document) ? own(document, 'key') : undefined
  if (typeof key !== 'string') return []
  const first = new Map<string, number>()
  return [...valuesAt(document, ['fields']), ...valuesAt(document, ['seed', '*'])].flatMap(
    ({ path, value: item }): Problem[] => {
      const value = (isJsonObject(item) ? own(item, key) : undefined) ?? null
      if (value === null) return []
      if (typeof value === 'object' || typeof value === 'boolean') {
        return [{ path: [...path, key], found: shown(value), allowed: `a text or a number, because ${key} is the key` }]
      }
      const before = path[0] === 'seed' ? first.get(String(value)) : undefined
      if (path[0] === 'seed' && before === undefined) first.set(String(value), Number(path[1]))
      if (before === undefined) return []
      const allowed = `a ${key} that differs from item ${before}`
      return [{ path, found: `${shown(value)} as its ${key} for the second time`, allowed }]
    },
  )
}
