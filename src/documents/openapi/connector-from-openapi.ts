import { isJsonObject, type JsonObject, type JsonValue, MAX_KEYS, MAX_VALUES, own } from '../../domain/json.ts'
import { nearest } from '../../domain/suggestion.ts'
import { plural, shorten } from '../../domain/text.ts'
import { MAX_SOURCE_LENGTH } from '../source-text.ts'
import {
  type ApiContent,
  type ApiDocument,
  type ApiOperation,
  type ApiParameter,
  isJsonType,
  readApiDocument,
  textOf,
  typeOf,
} from './api-document.ts'
import { authorizationOf } from './authorization.ts'
import { errorValue, literal, snakeCase, valuesOf } from './generated-values.ts'
import { fittingValue } from './fitting-value.ts'
import { type Bounds, inlineSchema } from './inline-schema.ts'
import { type ResourceOperation, resourcesIn } from './resources.ts'

/** Makes a value that fits a schema; undefined where it cannot. */
export type MakeValue = (schema: JsonObject) => JsonValue | undefined

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

/**
 * A connector file out of an OpenAPI document: a tool and a responder for each operation, collections where paths form a
 * resource. `fallbackName` is its name where the file's own says nothing; `only` keeps operations with this tag, or below
 * this path.
 * @throws OpenapiError
 */
export function connectorFromOpenapi(
  root: JsonValue,
  { name, only, makeValue }: { name: string; only: string | undefined; makeValue: MakeValue },
): FromOpenapi {
  const document = readApiDocument(root)
  if (!document) throw new OpenapiError('is no OpenAPI document: expected openapi: 3.x or swagger: 2.0, and paths')
  const operations = chosen(document, only)
  for (const bounds of DETAIL) {
    const notes = new Notes()
    const connector = new Draft(
      document,
      operations,
      connectorName(name, document),
      bounds,
      notes,
      makeValue,
    ).connector()
    if (!connector) continue
    for (const place of only === undefined ? document.otherMethods : []) {
      notes.add('left out: a tool calls with GET, POST, PUT, PATCH or DELETE', place)
    }
    return { connector, summary: summaryOf(connector), leftOut: notes.lines() }
  }
  throw new OpenapiError(
    `has ${plural(operations.length, 'operation')}, which is more than one connector file can have; choose by --only TAG_OR_PATH`,
  )
}

function chosen(document: ApiDocument, only: string | undefined): readonly ApiOperation[] {
  const { operations } = document
  if (operations.length === 0) throw new OpenapiError('has no operation')
  if (only === undefined) return operations
  const isPath = only.startsWith('/')
  const below = only.replace(/\/$/, '')
  const found = operations.filter(({ path, tags }) =>
    isPath
      ? path === only || path.startsWith(`${below}/`)
      : tags.some((tag) => tag.toLowerCase() === only.toLowerCase()),
  )
  if (found.length > 0) return found
  if (isPath) throw new OpenapiError(`has no path ${only} and none below it`)
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))]
  const meant = nearest(only, tags)
  const hint =
    meant !== undefined
      ? `did you mean ${meant}?`
      : tags.length > 0
        ? `its tags are ${tags.slice(0, 40).join(', ')}`
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
class FileSize {
  #keys = 0
  #values = 0
  #characters = 0

  /** Counts a part more. Returns whether all of them fit into one file. */
  fits(value: JsonValue | undefined): boolean {
    this.#count(value ?? null)
    return this.#keys < MAX_KEYS * 0.9 && this.#values < MAX_VALUES * 0.9 && this.#characters < MAX_SOURCE_LENGTH * 0.6
  }

  #count(value: JsonValue): void {
    this.#values += 1
    this.#characters += 4 + (typeof value === 'string' ? value.length : 0)
    if (typeof value !== 'object' || value === null) return
    for (const [key, each] of Object.entries(value)) {
      this.#keys += Array.isArray(value) ? 0 : 1
      this.#characters += key.length
      this.#count(each)
    }
  }
}

function summaryOf(connector: JsonObject): string {
  const [tools, collections] = [own(connector, 'tools'), own(connector, 'collections')]
  const count = Array.isArray(tools) ? tools.length : 0
  const named = isJsonObject(collections) ? Object.keys(collections) : []
  const holds =
    named.length === 0 ? 'no collections' : `${plural(named.length, 'collection')} (${shorten(named.join(', '), 200)})`
  return `${textOf(connector, 'connector')}: ${plural(count, 'tool')}, ${holds}, ${textOf(connector, 'authorization_type')}`
}

const MAX_PLACES = 10

/** What was left out, by reason. */
class Notes {
  readonly #places = new Map<string, Set<string>>()

  add(reason: string, place: string): void {
    const places = this.#places.get(reason)
    if (places) places.add(place)
    else this.#places.set(reason, new Set([place]))
  }

  lines(): string[] {
    return [...this.#places].map(([reason, places]) => {
      const more = places.size - MAX_PLACES
      const named = [...places].slice(0, MAX_PLACES).join(', ')
      return `${reason}: ${named}${more > 0 ? ` and ${String(more)} more` : ''}`
    })
  }
}

interface DraftOperation extends ResourceOperation {
  readonly tool: JsonObject
  readonly on: JsonObject
  readonly status: number
  readonly headers: JsonObject
}

/** The connector in one degree of detail. */
class Draft {
  readonly #toolNames = new Set<string>()

  constructor(
    readonly document: ApiDocument,
    readonly operations: readonly ApiOperation[],
    readonly name: string,
    readonly bounds: Bounds,
    readonly notes: Notes,
    readonly makeValue: MakeValue,
  ) {}

  /** Undefined as soon as it is too large for one file. */
  connector(): JsonObject | undefined {
    const { document, notes, name } = this
    const drafts: DraftOperation[] = []
    const size = new FileSize()
    for (const operation of this.operations) {
      const draft = this.#operation(operation)
      if (draft) drafts.push(draft)
      if (draft && !size.fits([draft.tool, draft.sample ?? null])) return undefined
    }
    const note = (reason: string, place: string): void => {
      notes.add(reason, place)
    }
    const { collections, steps } = resourcesIn(drafts, note)
    const responders = drafts
      .map((draft) => ({ draft, order: orderOf(draft.path) }))
      .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
      .map(({ draft }): JsonObject => {
        const { on, status, headers } = draft
        const found = steps.get(draft)
        const body = found ? found.body : draft.sample
        const hasBody = body !== undefined && status !== 204
        const respond = { status, ...(Object.keys(headers).length > 0 && { headers }), ...(hasBody && { body }) }
        return { on, ...(found && { steps: found.steps }), respond }
      })
    const errors = steps.size > 0 ? this.#errorBody() : undefined
    const connector = {
      connector: name,
      ...(document.title !== '' && { display_name: shorten(document.title, 100) }),
      ...(document.description !== '' && { description: shorten(document.description, 500) }),
      ...authorizationOf(document, this.operations, note),
      tools: drafts.map(({ tool }) => tool),
      ...(Object.keys(collections).length > 0 && { collections }),
      ...(errors && { error_body: errors }),
      responders,
    }
    return new FileSize().fits(connector) ? connector : undefined
  }

  #operation(operation: ApiOperation): DraftOperation | undefined {
    const { place, method } = operation
    const full = `${this.document.basePath}${operation.path}`
    const unfit = /[?#*]|\{\}|\}\{/.test(full) || !/^[^{}]*(\{[^{}]+\}[^{}]*)*$/.test(full)
    if (unfit) {
      this.notes.add('left out: the path has a query, a fragment, a * or braces that are not one parameter', place)
      return undefined
    }
    const inputs = this.#inputs(operation, full)
    const path = full
      .split('/')
      .map((part) =>
        /^\{[^{}]+\}$/.test(part) ? `{${inputName(part.slice(1, -1))}}` : part.replaceAll(/\{[^{}]+\}/g, '*'),
      )
      .join('/')
    const answer = this.#answer(operation)
    return {
      place,
      method,
      path,
      parameters: inputs.parameters,
      request: inputs.request,
      isRequestRequired: inputs.isRequestRequired,
      tool: {
        name: this.#toolName(operation),
        description: shorten(
          operation.summary === '' ? place : operation.summary,
          Math.max(this.bounds.description * 3, 80),
        ),
        ...(operation.tags.length > 0 && { tags: [...new Set(operation.tags)] }),
        input_schema: inputs.schema,
        call: { method, path: inputs.path, ...inputs.call },
      },
      on: { method, path },
      ...answer,
    }
  }

  #toolName({ id, method, path }: ApiOperation): string {
    const own = id === '' ? `${method} ${path.replaceAll(/\{([^{}]*)\}/g, 'by_$1')}` : id
    const stem = snakeCase(own)
    const full = stem.startsWith(`${this.name}_`) ? stem : `${this.name}_${stem}`
    let name = full.slice(0, MAX_TOOL_NAME)
    for (let number = 2; this.#toolNames.has(name); number++) {
      const end = `_${String(number)}`
      name = `${full.slice(0, MAX_TOOL_NAME - end.length)}${end}`
    }
    this.#toolNames.add(name)
    return name
  }

  #inputs(operation: ApiOperation, full: string) {
    const { document, notes, bounds } = this
    const properties: JsonObject = {}
    const required: string[] = []
    const call: { query: JsonObject; headers: JsonObject } = { query: {}, headers: {} }
    const names = new Map<string, string>()
    const parameters: { name: string; in: string; schema: JsonObject }[] = []
    const inPath = [...full.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
    const missing = inPath.filter(
      (name) => !operation.parameters.some((each) => each.in === 'path' && each.name === name),
    )
    const undescribed = missing.map((name): ApiParameter => ({
      name,
      in: 'path',
      description: '',
      isRequired: true,
      schema: { type: 'string' },
    }))
    for (const parameter of [...operation.parameters, ...undescribed]) {
      const { name, description, isRequired } = parameter
      if (parameter.in === 'path' && !inPath.includes(name)) continue
      if (parameter.in === 'header' && IMPLIED_HEADERS.includes(name.toLowerCase())) continue
      if (!['path', 'query', 'header'].includes(parameter.in) || name === '') {
        notes.add(
          `left out: a parameter in ${parameter.in === '' ? 'an unknown place' : parameter.in}`,
          `${name} of ${operation.place}`,
        )
        continue
      }
      const { schema, isCut } = inlineSchema(parameter.schema, document.follow, { purpose: 'input', bounds })
      if (isCut) notes.add(CUT, operation.place)
      const input = freeInput(inputName(name), parameter.in, properties)
      const text = own(schema, 'description') ?? shorten(description, bounds.description)
      properties[input] = { ...schema, ...(text !== '' && { description: text }) }
      if (isRequired || parameter.in === 'path') required.push(input)
      parameters.push({ name, in: parameter.in, schema })
      const template = typeOf(schema) === 'array' ? listTemplate(input) : `{{input.${input}}}`
      if (parameter.in === 'path') names.set(name, `{{input.${input}}}`)
      else call[parameter.in === 'query' ? 'query' : 'headers'][name] = template
    }
    const request = this.#request(operation)
    if (request) {
      const input = freeInput('body', 'request', properties)
      properties[input] = request.schema
      if (request.isRequired) required.push(input)
      Object.assign(call, { body: `{{input.${input}}}` })
    }
    const { query, headers, ...body } = call
    return {
      parameters,
      request: request?.schema,
      isRequestRequired: request?.isRequired ?? false,
      schema: { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
      path: full.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => names.get(name) ?? ''),
      call: {
        ...(Object.keys(query).length > 0 && { query }),
        ...(Object.keys(headers).length > 0 && { headers }),
        ...body,
      } as JsonObject,
    }
  }

  #request({ body, place }: ApiOperation): { schema: JsonObject; isRequired: boolean } | undefined {
    if (!body) return undefined
    const { mediaType, isRequired } = body
    const isForm = /^(application\/x-www-form-urlencoded|multipart\/)/i.test(mediaType)
    if (!isJsonType(mediaType) && !isForm) {
      this.notes.add(`left out: a body of ${mediaType}, because a tool sends JSON`, place)
      return undefined
    }
    if (isForm) this.notes.add(`sent as JSON in place of ${mediaType}`, place)
    const { schema, isCut } = inlineSchema(body.schema, this.document.follow, { purpose: 'input', bounds: this.bounds })
    if (isCut) this.notes.add(CUT, place)
    return { schema, isRequired }
  }

  /** The answer of the first success that the document has, or of `default`. */
  #answer(operation: ApiOperation) {
    const { place, responses } = operation
    const [code = ''] = [...responses.keys()].filter((each) => /^2(\d\d|XX)$/.test(each)).sort()
    const used = code === '' && responses.has('DEFAULT') ? 'DEFAULT' : code
    const content = responses.get(used)
    const status = /^\d+$/.test(used) ? Number(used) : used === '' ? 204 : 200
    if (used === '')
      this.notes.add('without an answer of its own, because the document has no success; it answers 204', place)
    const none = { status, headers: {}, answer: undefined, sample: undefined, isExample: false }
    if (!content) return none
    const { mediaType } = content
    const isText = /^text\//i.test(mediaType)
    if (!isJsonType(mediaType) && !isText) {
      this.notes.add(`left out: the body of an answer of ${mediaType}; it is empty`, place)
      return none
    }
    const made = this.#body(content, operation)
    if (!isText) return { ...none, ...made }
    const text = typeof made.sample === 'string' ? made.sample : ''
    return { ...none, headers: { 'Content-Type': mediaType }, sample: text }
  }

  #body({ schema: described, example }: ApiContent, { path, place }: ApiOperation) {
    const { follow } = this.document
    const resource = path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? ''
    const inlined = (schema: JsonValue, depth: number, name = '') =>
      inlineSchema(schema, follow, {
        purpose: 'answer',
        bounds: { ...this.bounds, depth: Math.min(this.bounds.depth, depth) },
        values: valuesOf(resource),
        name,
      })
    const { schema, isCut } = inlined(described, 6)
    const isExample = example !== undefined && example !== null
    if (isCut && !isExample) this.notes.add(CUT, place)
    const make = (each: JsonObject, name: string, level: number) =>
      this.makeValue(inlined(each, 4 - level, name).schema)
    const value = isExample ? literal(example) : (this.makeValue(schema) ?? null)
    return { answer: schema, sample: fittingValue(value, described, { follow, make }), isExample }
  }

  /** The body of failures: that of the first 404 or other error which the document describes as an object. */
  #errorBody(): JsonObject | undefined {
    for (const code of ['404', '4XX', '400', 'DEFAULT', '401', '403', '500']) {
      for (const { responses } of this.operations) {
        const content = responses.get(code)
        if (!content || !isJsonType(content.mediaType)) continue
        const { schema } = inlineSchema(content.schema, this.document.follow, {
          purpose: 'answer',
          bounds: this.bounds,
          values: errorValue,
        })
        const body = this.makeValue(schema)
        if (isJsonObject(body) && JSON.stringify(body).includes('{{error.')) return body
      }
    }
    return undefined
  }
}

/** What models take. */
const MAX_TOOL_NAME = 64

const CUT = 'simplified: schemas that contain themselves, lie too deep or are too many'

const IMPLIED_HEADERS = ['accept', 'content-type', 'authorization']

function inputName(name: string): string {
  const plain = name.replaceAll(/\W+/g, '_').replaceAll(/^_+|_+$/g, '')
  return /^[A-Za-z]/.test(plain) ? plain : `p_${plain}`
}

function freeInput(name: string, place: string, taken: JsonObject): string {
  let free = name
  if (Object.hasOwn(taken, free)) free = `${name}_${place}`
  for (let number = 2; Object.hasOwn(taken, free); number++) free = `${name}_${place}_${String(number)}`
  return free
}

/** The items of a list by commas. */
function listTemplate(input: string): string {
  return `{{#each input.${input}}}{{#unless @first}},{{/unless}}{{this}}{{/each}}`
}

/** Fixed parts come before `*`, and those before `{name}`: the first responder that matches answers. */
function orderOf(path: string): string {
  return path
    .split('/')
    .map((part) => (part.startsWith('{') ? '\u{ffff}' : part.includes('*') ? `\u{fffe}${part}` : `!${part}`))
    .join('/')
}
