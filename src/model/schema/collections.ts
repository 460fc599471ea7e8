import { z } from 'zod'
import { COLLECTION_NAME, OPERATORS, STEP_ACTIONS, type StepAction } from '../domain/collection.ts'
import { isJsonObject, type JsonObject, ownMember } from '../domain/json.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { anyJson, headerMap, jsonObject, nonEmpty, type Report, strict, text, wholeNumber, withRule } from './parts.ts'
import { problemValue } from './problems.ts'

const name = z
  .string()
  .regex(COLLECTION_NAME, { error: 'a letter, then up to 63 letters, digits and underscores' })
  .meta({ title: 'name' })

export const collectionDocument = strict({
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

export type ParsedCollection = z.output<typeof collectionDocument>

export const collections = z.record(name, collectionDocument)

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
        if (OPERATORS.some((name) => name === operator)) continue
        const mistake = `an unknown operator${didYouMean(operator, OPERATORS)}`
        report([path, operator], { found: mistake, allowed: OPERATORS.join(', '), atKey: true })
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

export const pageRules = withRule(
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
    const pageFields = Object.entries({ token, offset, number }).filter(([, value]) => value !== undefined)
    if (pageFields.length > 1) {
      const mistake = `with ${pageFields.map(([key]) => key).join(' and ')}`
      report([], { found: mistake, allowed: 'one of token, offset and number' })
    }
    if (link !== undefined && pageFields.length === 0) {
      const mistake = 'set without token, offset and number'
      report(['link'], { found: mistake, allowed: 'link together with one of token, offset and number', atKey: true })
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

/** The keys of steps beside their action. */
export const stepKeys = {
  key: anyJson.optional().describe('The key of the item: a template.'),
  where: conditions
    .optional()
    .describe('Which items. In list a condition whose value comes out empty is left out; elsewhere it finds nothing.'),
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
  page: pageRules.optional().describe('One page of the list. Absent: all of it.'),
  show: anyJson.optional().describe('How each listed item looks: templates over item. Absent: the item itself.'),
  as: name.optional().describe('The variable of the result. Absent: item, or items where there can be several.'),
  otherwise: otherwise.optional().describe('The answer when the step fails, in place of the usual one.'),
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
    ...stepKeys,
  }),
  (document, report) => {
    const actions = STEP_ACTIONS.filter((action) => document[action] !== undefined)
    const [action, ...others] = actions
    if (!action || others.length > 0) {
      const mistake = action ? `with ${actions.join(' and ')}` : 'without an action'
      report([], { found: mistake, allowed: `exactly one of ${STEP_ACTIONS.join(', ')}` })
      return
    }
    const fitting = [action, ...KEYS[action], 'as', 'otherwise']
    for (const key of Object.keys(document)) {
      if (fitting.includes(key)) continue
      report([key], { found: `set beside ${action}`, allowed: fitting.join(', '), atKey: true })
    }
    if (!KEYS[action].includes('key')) return
    if ((document.key === undefined) === (document.where === undefined)) {
      const mistake = document.key === undefined ? 'without key and where' : 'with both key and where'
      report([], { found: mistake, allowed: 'exactly one of key and where' })
    }
  },
)

/** The names that variables of templates have already. */
const RESERVED_NAMES = ['request', 'account', 'person', 'error', 'existing', 'page', 'sequence']

export const steps = withRule(z.array(step).min(1), (list, report) => {
  for (const [index, each] of list.entries()) {
    const as = isJsonObject(each) ? ownMember(each, 'as') : undefined
    if (typeof as !== 'string' || !RESERVED_NAMES.includes(as)) continue
    report([index, 'as'], { found: `${problemValue(as)}, which is a variable already`, allowed: 'another name' })
  }
})

export type ParsedStep = z.output<typeof step>
