import {
  extentOf,
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  listAt,
  MAX_KEYS,
  MAX_VALUES,
  objectAt,
  ownMember,
  setOwn,
  textAt,
} from '../../model/domain/json.ts'
import { listAllowed, nearest } from '../../model/domain/suggestion.ts'
import { percentDecoded, plural, quote, shorten } from '../../model/domain/text.ts'
import { PatternEngine } from '../../model/linear-pattern.ts'
import { MAX_SOURCE_LENGTH } from '../source-text.ts'
import {
  type ApiContent,
  type ApiDocument,
  type ApiOperation,
  isJsonType,
  readApiDocument,
  typeOf,
} from './api-document.ts'
import { authorizationOf } from './authorization.ts'
import { errorValue, literalValue, type MakeValue, snakeCase, unusedName, valuesOf } from './generated-values.ts'
import { type Bounds, inlineSchema } from './inline-schema.ts'
import type { SentParameter } from './list-query.ts'
import { type Note, type ResourceOperation, resourcesIn } from './resources.ts'

export interface FromOpenapi {
  readonly connector: JsonObject
  readonly summary: string
  /** What of the document the connector does not have, a line each. */
  readonly leftOut: readonly string[]
}

/** Why no connector can be made; the message says what is allowed. */
export class OpenapiError extends Error {
  override readonly name = 'OpenapiError'
}

/** From the most to the least that is kept of schemas: a connector file has a greatest size. */
const DETAIL: readonly Bounds[] = [
  { depth: 8, schemas: 400, description: 300 },
  { depth: 5, schemas: 120, description: 200 },
  { depth: 4, schemas: 50, description: 120 },
  { depth: 3, schemas: 25, description: 80 },
  { depth: 2, schemas: 12, description: 60 },
  { depth: 2, schemas: 6, description: 0 },
]

interface FromOptions {
  /** Its name; absent: that of its file, or the title where the file's says nothing. */
  readonly name?: string | undefined
  readonly fileName: string
  /** Keeps operations with this tag, or below this path. */
  readonly only: string | undefined
  readonly makeValue: MakeValue
  readonly progress?: ((done: number, total: number) => void) | undefined
}

/** A tool and a responder for each operation, collections where paths form a resource. @throws OpenapiError */
export function connectorFromOpenapi(root: JsonValue, options: FromOptions): FromOpenapi {
  const { only } = options
  const document = readApiDocument(root)
  if (!document) throw new OpenapiError('is no OpenAPI document: expected openapi: 3.x or swagger: 2.0, and paths')
  const operations = chosenOperations(document, only)
  for (const bounds of DETAIL) {
    const notes = new Notes()
    const name = options.name ?? connectorName(options.fileName, document)
    const connector = new ConnectorDraft({
      ...options,
      document,
      operations,
      name,
      bounds,
      note: notes.add,
    }).connector()
    if (!connector) continue
    for (const { reason, place } of only === undefined ? document.leftOut : []) notes.add(reason, place)
    for (const reference of document.brokenReferences) notes.add(BROKEN, reference)
    return { connector, summary: connectorSummary(connector), leftOut: notes.lines() }
  }
  throw new OpenapiError(
    `has ${plural(operations.length, 'operation')}, which is more than one connector file can have; choose by --only TAG_OR_PATH`,
  )
}

function chosenOperations(document: ApiDocument, only: string | undefined): readonly ApiOperation[] {
  const { operations, brokenReferences, leftOut } = document
  if (operations.length === 0) {
    const broken = [...brokenReferences].map((place) => ({ reason: BROKEN, place }))
    const [why] = [...broken, ...leftOut]
    throw new OpenapiError(`has no operation${why ? `; ${why.reason}: ${why.place}` : ''}`)
  }
  if (only === undefined) return operations
  const isPath = only.startsWith('/')
  const below = only.replace(/\/$/, '')
  const matching = operations.filter(({ path, tags }) =>
    isPath
      ? path === only || path.startsWith(`${below}/`)
      : tags.some((tag) => tag.toLowerCase() === only.toLowerCase()),
  )
  if (matching.length > 0) return matching
  if (isPath) throw new OpenapiError(`has no path ${only} and none below it`)
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))]
  const meant = nearest(only, tags)
  const hint =
    meant !== undefined
      ? `did you mean ${meant}?`
      : tags.length > 0
        ? `its tags are ${listAllowed(only, tags)}`
        : 'it has no tags; a path starts with /'
  throw new OpenapiError(`has no operation with the tag ${only}; ${hint}`)
}

/** `crm.yaml` makes `crm`; a name that says nothing gives way to the title. */
function connectorName(file: string, { title }: ApiDocument): string {
  const ofFile = snakeCase(file)
  const isPlain =
    ofFile === '' || /^(openapi|open_api|swagger|api|spec|spec3|index|schema)(_(openapi|json|yaml|v\d+))*$/.test(ofFile)
  const name = isPlain ? snakeCase(title) : ofFile
  return (name === '' ? 'api' : name).slice(0, 40).replace(/_$/, '')
}

/** How large the parts of a connector file are, against what one may have, with a margin for edits. */
export class FileSize {
  #keys = 0
  #values = 0
  #characters = 0

  /** Counts a part more, and returns whether all of them fit into one file; a part that does not is not counted. */
  fits(part: JsonValue): boolean {
    const text = jsonText(part)
    const extent = extentOf(text)
    const [keys, values] = [this.#keys + extent.keys, this.#values + extent.values]
    const characters = this.#characters + text.length
    const isWithin = keys < MAX_KEYS * 0.9 && values < MAX_VALUES * 0.9 && characters < MAX_SOURCE_LENGTH * 0.6
    if (isWithin) [this.#keys, this.#values, this.#characters] = [keys, values, characters]
    return isWithin
  }
}

function connectorSummary(connector: JsonObject): string {
  const names = Object.keys(objectAt(connector, 'collections'))
  const collections =
    names.length === 0 ? 'no collections' : `${plural(names.length, 'collection')} (${shorten(names.join(', '), 200)})`
  const tools = plural(listAt(connector, 'tools').length, 'tool')
  return `${textAt(connector, 'connector')}: ${tools}, ${collections}, ${textAt(connector, 'authorization_type')}`
}

const MAX_PLACES = 10

class Notes {
  readonly #places = new Map<string, Set<string>>()

  readonly add: Note = (reason, place) => {
    this.#places.set(reason, (this.#places.get(reason) ?? new Set()).add(place))
  }

  lines(): string[] {
    return [...this.#places].map(([reason, places]) => {
      const more = places.size - MAX_PLACES
      const placeList = [...places].slice(0, MAX_PLACES).join(', ')
      return `${reason}: ${placeList}${more > 0 ? ` and ${String(more)} more` : ''}`
    })
  }
}

interface DraftOperation extends ResourceOperation {
  readonly tool: JsonObject
  readonly status: number
  readonly headers: JsonObject
}

interface DraftContext extends FromOptions {
  readonly name: string
  readonly document: ApiDocument
  readonly operations: readonly ApiOperation[]
  readonly bounds: Bounds
  readonly note: Note
}

/** The connector in one degree of detail. */
class ConnectorDraft {
  readonly #toolNames = new Set<string>()
  readonly #writeOnly = new Set<string>()

  constructor(readonly from: DraftContext) {}

  /** Undefined as soon as it is too large for one file. */
  connector(): JsonObject | undefined {
    const { document, operations, note, name, progress } = this.from
    const drafts: DraftOperation[] = []
    const size = new FileSize()
    for (const [done, operation] of operations.entries()) {
      progress?.(done, operations.length)
      const draft = this.#draftOperation(operation)
      if (draft) drafts.push(draft)
      if (draft && !size.fits([draft.tool, draft.sample ?? null])) return undefined
    }
    const { collections, steps } = resourcesIn(drafts, note)
    const responders = drafts
      .map((draft) => ({ draft, order: pathOrder(draft.path) }))
      .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
      .map(({ draft }): JsonObject => {
        const { method, path, status, headers, sample } = draft
        const resource = steps.get(draft)
        const body = resource ? resource.body : sample
        const hasBody = body !== undefined && status !== 204
        const respond = { status, ...(Object.keys(headers).length > 0 && { headers }), ...(hasBody && { body }) }
        return { on: { method, path }, ...(resource && { steps: resource.steps }), respond }
      })
    const errors = steps.size > 0 ? this.#errorBody() : undefined
    const connector = {
      connector: name,
      ...(document.title !== '' && { display_name: shorten(document.title, 100) }),
      ...(document.description !== '' && { description: shorten(document.description, 500) }),
      ...authorizationOf(document, operations, note),
      tools: drafts.map(({ tool }) => tool),
      ...(Object.keys(collections).length > 0 && { collections }),
      ...(errors && { error_body: errors }),
      responders,
    }
    return new FileSize().fits(connector) ? connector : undefined
  }

  #draftOperation(operation: ApiOperation): DraftOperation | undefined {
    const { place, method, tags } = operation
    const full = `${this.from.document.basePath}${operation.path}`
    if (!/^([^{}?#*]|\{[^{}?#*]+\}(?!\{))*$/.test(full)) {
      this.from.note('left out: the path has a query, a fragment, a * or braces that are not one parameter', place)
      return undefined
    }
    const { parameters, request, input_schema, call } = this.#toolInputs(operation, full)
    const description = shorten(operation.summary || place, Math.max(this.from.bounds.description * 3, 80))
    return {
      place,
      method,
      path: full
        .split('/')
        .map((part) =>
          /^\{[^{}]+\}$/.test(part)
            ? `{${inputName(part.slice(1, -1))}}`
            : (percentDecoded(part) ?? part).replaceAll(/\{[^{}]+\}/g, '*'),
        )
        .join('/'),
      parameters,
      request,
      writeOnly: this.#writeOnly,
      isRequestRequired: request !== undefined && operation.body?.isRequired === true,
      tool: {
        name: this.#toolName(operation),
        description,
        ...(tags.length > 0 && { tags: [...new Set(tags)] }),
        input_schema,
        call: { method, ...call },
      },
      ...this.#successResponse(operation),
    }
  }

  #toolName({ id, method, path }: ApiOperation): string {
    const stem = snakeCase(id === '' ? `${method} ${path.replaceAll(/\{([^{}]*)\}/g, 'by_$1')}` : id)
    const prefix = snakeCase(this.from.name)
    const full = stem.startsWith(`${prefix}_`) ? stem : `${prefix}_${stem}`
    const name = unusedName(full, (each) => this.#toolNames.has(each), MAX_TOOL_NAME)
    this.#toolNames.add(name)
    return name
  }

  #toolInputs(operation: ApiOperation, full: string) {
    const { place } = operation
    const properties: JsonObject = {}
    const required: string[] = []
    const inputs: Record<string, JsonObject> = { path: {}, query: {}, header: {} }
    const parameters: SentParameter[] = []
    const inPath = [...full.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
    const undescribed = inPath
      .filter((name) => !operation.parameters.some((each) => each.in === 'path' && each.name === name))
      .map((name) => ({ name, in: 'path', description: '', isRequired: true, schema: { type: 'string' } }))
    for (const parameter of [...operation.parameters, ...undescribed]) {
      const { name, in: where, description, isRequired } = parameter
      if (where === 'path' && !inPath.includes(name)) continue
      if (where === 'header' && IMPLIED_HEADERS.includes(name.toLowerCase())) continue
      const target = Object.hasOwn(inputs, where) ? inputs[where] : undefined
      if (!target || name === '') {
        this.from.note(`left out: a parameter in ${where === '' ? 'an unknown place' : where}`, `${name} of ${place}`)
        continue
      }
      const schema = this.#inputSchema(parameter.schema, place)
      const input = freeInput(inputName(name), where, properties)
      const text = ownMember(schema, 'description') ?? shorten(description, this.from.bounds.description)
      properties[input] = { ...schema, ...(text !== '' && { description: text }) }
      if (isRequired || where === 'path') required.push(input)
      parameters.push({ name, in: where, schema })
      setOwn(target, name, where !== 'path' && typeOf(schema) === 'array' ? listTemplate(input) : `{{input.${input}}}`)
    }
    const request = this.#requestSchema(operation)
    const body = request && freeInput('body', 'request', properties)
    if (body !== undefined) properties[body] = request ?? {}
    if (body !== undefined && operation.body?.isRequired) required.push(body)
    const { path, query, header: headers } = inputs
    const filled = Object.entries({ query, headers }).filter(([, each]) => Object.keys(each ?? {}).length > 0)
    return {
      parameters,
      request,
      input_schema: {
        type: 'object',
        properties,
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      },
      call: {
        path: full.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => textAt(path ?? {}, name)),
        ...Object.fromEntries(filled),
        ...(body !== undefined && { body: `{{input.${body}}}` }),
      } as JsonObject,
    }
  }

  #inputSchema(described: JsonValue, place: string): JsonObject {
    const { document, bounds, note } = this.from
    const { schema, isCut, isOpened, patterns, writeOnly } = inlineSchema(described, document.follow, { bounds })
    if (isCut) note(CUT, place)
    if (isOpened) note(OPENED, place)
    for (const name of writeOnly) this.#writeOnly.add(name)
    for (const pattern of patterns) {
      const reason = new PatternEngine().unsupported(pattern)
      if (reason !== undefined) note(`the pattern ${quote(pattern)}: it cannot run in linear time (${reason})`, place)
    }
    return schema
  }

  #requestSchema({ body, place }: ApiOperation): JsonObject | undefined {
    if (!body) return undefined
    const isForm = /^(application\/x-www-form-urlencoded|multipart\/)/i.test(body.mediaType)
    if (!isJsonType(body.mediaType) && !isForm) {
      this.from.note(`left out: a body of ${body.mediaType}, because a tool sends JSON`, place)
      return undefined
    }
    if (isForm) this.from.note(`sent as JSON in place of ${body.mediaType}`, place)
    return this.#inputSchema(body.schema, place)
  }

  /** The answer of the first success that the document has, or of `default`. */
  #successResponse(operation: ApiOperation) {
    const { place, responses } = operation
    const [success] = [...responses.keys()].filter((each) => /^2(\d\d|XX)$/.test(each)).sort()
    const used = success ?? (responses.has('DEFAULT') ? 'DEFAULT' : '')
    const content = responses.get(used)
    const status = /^\d+$/.test(used) ? Number(used) : used === '' ? 204 : 200
    const none = { status, headers: {}, response: undefined, sample: undefined, isExample: false }
    if (used === '')
      this.from.note('without an answer of its own, because the document has no success; it answers 204', place)
    if (!content) return none
    const { mediaType } = content
    if (isJsonType(mediaType)) return { ...none, ...this.#responseBody(content, operation) }
    if (/^text\//i.test(mediaType)) {
      const { sample } = this.#responseBody(content, operation)
      return { ...none, headers: { 'Content-Type': mediaType }, sample: typeof sample === 'string' ? sample : '' }
    }
    this.from.note(`left out: the body of an answer of ${mediaType}; it is empty`, place)
    return none
  }

  #responseBody({ schema: described, example }: ApiContent, { path, place }: ApiOperation) {
    const { document, bounds, makeValue, note } = this.from
    const resource = path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? ''
    const values = valuesOf(resource, makeValue)
    const bounded = { ...bounds, depth: Math.min(bounds.depth, 6) }
    const { schema, isCut, isOpened, writeOnly } = inlineSchema(described, document.follow, { bounds: bounded, values })
    const isExample = example !== undefined && example !== null
    if (isCut && !isExample) note(CUT, place)
    if (isOpened) note(OPENED, place)
    for (const name of writeOnly) this.#writeOnly.add(name)
    const sample = isExample ? withoutNames(literalValue(example), writeOnly) : (makeValue(schema) ?? null)
    return { response: schema, sample, isExample }
  }

  /** The body of failures: that of the first 404 or other error which the document describes as an object. */
  #errorBody(): JsonObject | undefined {
    const { document, operations, bounds, makeValue } = this.from
    for (const code of ['404', '4XX', '400', 'DEFAULT', '401', '403', '500']) {
      for (const { responses } of operations) {
        const content = responses.get(code)
        if (!content || !isJsonType(content.mediaType)) continue
        const options = { bounds, values: errorValue }
        const body = makeValue(inlineSchema(content.schema, document.follow, options).schema)
        if (isJsonObject(body) && jsonText(body).includes('{{error.')) return body
      }
    }
    return undefined
  }
}

/** What models take. */
const MAX_TOOL_NAME = 64

const BROKEN = 'left out: references to other files (bundle them into one first), or to what the document does not have'
const CUT = 'simplified: schemas that contain themselves, lie too deep or are too many'

const OPENED = 'without additionalProperties: false, which refuses the properties of another part of the same schema'

const IMPLIED_HEADERS = ['accept', 'content-type', 'authorization']

/** An example without the write-only properties that it shows all the same. */
function withoutNames(value: JsonValue, names: ReadonlySet<string>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withoutNames(item, names))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).filter(([name]) => !names.has(name))
  return Object.fromEntries(entries.map(([name, item]) => [name, withoutNames(item, names)]))
}

function inputName(name: string): string {
  const plain = name.replaceAll(/\W+/g, '_').replaceAll(/^_+|_+$/g, '')
  return /^[A-Za-z]/.test(plain) ? plain : `p_${plain}`
}

function freeInput(name: string, place: string, taken: JsonObject): string {
  return Object.hasOwn(taken, name) ? unusedName(`${name}_${place}`, (each) => Object.hasOwn(taken, each)) : name
}

/** The items of a list by commas. */
function listTemplate(input: string): string {
  return `{{#each input.${input}}}{{#unless @first}},{{/unless}}{{this}}{{/each}}`
}

/** Fixed parts come before `*`, and those before `{name}`: the first responder that matches answers. */
function pathOrder(path: string): string {
  return path
    .split('/')
    .map((part) => (part.startsWith('{') ? '\u{ffff}' : part.includes('*') ? `\u{fffe}${part}` : `!${part}`))
    .join('/')
}
