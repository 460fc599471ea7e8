import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  ownMember,
  pointerParts,
  textAt,
  textOf,
} from '../../model/domain/json.ts'
import { METHODS } from '../../model/domain/path-pattern.ts'
import { percentDecoded, quote } from '../../model/domain/text.ts'
import { valueAtPath } from '../../model/schema/problems.ts'

/** An OpenAPI document of version 2.0, 3.0 or 3.1, read as far as a connector needs it. */
export interface ApiDocument {
  readonly title: string
  readonly description: string
  /** The path of its first server, which all paths start with: `/v1`, or empty. */
  readonly basePath: string
  readonly operations: readonly ApiOperation[]
  /** Paths and operations that no tool can call, with the reason. */
  readonly leftOut: readonly LeftOut[]
  readonly securitySchemes: JsonObject
  readonly follow: Follow
  /** References that were followed and lead out of the document or nowhere. */
  readonly brokenReferences: ReadonlySet<string>
}

export interface LeftOut {
  readonly reason: string
  readonly place: string
}

export interface ApiOperation {
  /** `GET /contacts/{id}`: what messages call it. */
  readonly place: string
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters: readonly ApiParameter[]
  readonly body: (ApiContent & { readonly isRequired: boolean }) | undefined
  readonly responses: ReadonlyMap<string, ApiContent | undefined>
  /** Alternatives, each with the schemes that it needs together. */
  readonly security: readonly (readonly string[])[]
}

export interface ApiParameter {
  readonly name: string
  readonly in: string
  readonly description: string
  readonly isRequired: boolean
  readonly schema: JsonValue
}

export interface ApiContent {
  readonly mediaType: string
  readonly schema: JsonValue
  readonly example: JsonValue | undefined
}

/** The value itself, or what its `$ref` leads to; undefined for one that leads out of the document or nowhere. */
export type Follow = (value: JsonValue | undefined) => JsonValue | undefined

export type Method = (typeof METHODS)[number]
const OTHER_METHODS = ['HEAD', 'OPTIONS', 'TRACE', 'QUERY']
const NO_METHOD = 'left out: a tool calls with GET, POST, PUT, PATCH or DELETE'
const NO_PATH = 'left out: a path starts with /'

const MAX_HOPS = 50

/** The parts of a document that a connector is made of; undefined when it is no OpenAPI document. */
export function readApiDocument(root: JsonValue): ApiDocument | undefined {
  if (!isJsonObject(root) || !isJsonObject(ownMember(root, 'paths'))) return undefined
  const isVersion2 = hasVersion(root, 'swagger', 2)
  return isVersion2 || hasVersion(root, 'openapi', 3) ? new Reader(root, isVersion2).document() : undefined
}

/** In YAML a version without quotes is a number. */
function hasVersion(root: JsonObject, key: string, major: number): boolean {
  const version = ownMember(root, key)
  return (typeof version === 'string' || typeof version === 'number') && Number.parseInt(`${version}`, 10) === major
}

class Reader {
  readonly #brokenReferences = new Set<string>()

  constructor(
    readonly root: JsonObject,
    readonly isVersion2: boolean,
  ) {}

  document(): ApiDocument {
    const operations: ApiOperation[] = []
    const leftOut: LeftOut[] = []
    for (const [path, value] of Object.entries(objectAt(this.root, 'paths'))) {
      // What begins with x- is an extension of the document, and no path.
      if (!path.startsWith('/') && !path.startsWith('x-')) leftOut.push({ reason: NO_PATH, place: quote(path) })
      const item = path.startsWith('/') ? this.#objectOf(value) : {}
      for (const [name, operation] of Object.entries(item)) {
        const method = METHODS.find((candidate) => candidate === name.toUpperCase())
        if (method && isJsonObject(operation)) operations.push(this.#readOperation(path, method, item, operation))
        else if (OTHER_METHODS.includes(name.toUpperCase()))
          leftOut.push({ reason: NO_METHOD, place: `${name.toUpperCase()} ${path}` })
      }
    }
    const info = objectAt(this.root, 'info')
    return {
      title: trimmedAt(info, 'title'),
      description: trimmedAt(info, 'description'),
      basePath: this.#basePath(),
      operations,
      leftOut,
      securitySchemes: this.isVersion2
        ? objectAt(this.root, 'securityDefinitions')
        : objectAt(objectAt(this.root, 'components'), 'securitySchemes'),
      follow: this.follow,
      brokenReferences: this.#brokenReferences,
    }
  }

  readonly follow: Follow = (value) => {
    let at = value
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const ref = isJsonObject(at) ? ownMember(at, '$ref') : undefined
      if (typeof ref !== 'string') return at
      const parts = pointerParts(percentDecoded(ref) ?? ref)
      at = ref.startsWith('#') ? (valueAtPath(this.root, parts) as JsonValue | undefined) : undefined
      if (at === undefined || hops === MAX_HOPS - 1) this.#brokenReferences.add(ref)
    }
    return undefined
  }

  #objectOf(value: JsonValue | undefined): JsonObject {
    const target = this.follow(value)
    return isJsonObject(target) ? target : {}
  }

  #readOperation(path: string, method: Method, item: JsonObject, operation: JsonObject): ApiOperation {
    const described = [...listAt(item, 'parameters'), ...listAt(operation, 'parameters')]
    const parameters = described.map((each) => this.follow(each)).filter(isJsonObject)
    // Those of the operation replace those of the path.
    const distinct = new Map(parameters.map((each) => [`${trimmedAt(each, 'in')} ${trimmedAt(each, 'name')}`, each]))
    const all = [...distinct.values()].map((each) => this.#readParameter(each))
    const request = this.isVersion2
      ? this.#requestOf2(operation, [...distinct.values()], all)
      : this.#objectOf(ownMember(operation, 'requestBody'))
    const content = this.#mainContent(request)
    const security = Array.isArray(ownMember(operation, 'security')) ? operation : this.root
    const texts = [trimmedAt(operation, 'summary'), trimmedAt(operation, 'description')]
    return {
      place: `${method} ${path}`,
      id: trimmedAt(operation, 'operationId'),
      method,
      path,
      summary: texts.filter((text) => text !== '').join('\n\n'),
      tags: listAt(operation, 'tags').filter((tag) => typeof tag === 'string'),
      parameters: all.filter((each) => !['body', 'formData'].includes(each.in)),
      body: content && { ...content, isRequired: ownMember(request, 'required') === true },
      responses: new Map(
        Object.entries(objectAt(operation, 'responses')).map(([status, each]) => {
          const response = this.#objectOf(each)
          return [
            status.toUpperCase(),
            this.#mainContent(this.isVersion2 ? this.#responseOf2(operation, response) : response),
          ]
        }),
      ),
      security: listAt(security, 'security').map((each) => (isJsonObject(each) ? Object.keys(each).sort() : [])),
    }
  }

  #readParameter(parameter: JsonObject): ApiParameter {
    const { name: _name, in: _in, required, description: _description, ...parameterFields } = parameter
    const [content = {}] = Object.values(objectAt(parameter, 'content'))
    const schema = ownMember(parameter, 'schema') ?? (isJsonObject(content) ? ownMember(content, 'schema') : undefined)
    return {
      name: trimmedAt(parameter, 'name'),
      in: trimmedAt(parameter, 'in'),
      description: trimmedAt(parameter, 'description'),
      isRequired: required === true,
      // In version 2 a parameter is its own schema.
      schema: this.isVersion2 ? parameterFields : (this.follow(schema ?? {}) ?? {}),
    }
  }

  /** The content of a request or a response: JSON where there is JSON, else the first. */
  #mainContent(of: JsonObject): ApiContent | undefined {
    const contents = Object.entries(objectAt(of, 'content'))
    const [mediaType, content] = contents.find(([type]) => isJsonType(type)) ?? contents[0] ?? []
    if (mediaType === undefined || !isJsonObject(content)) return undefined
    const example =
      ownMember(content, 'example') ??
      ownMember(this.#objectOf(Object.values(objectAt(content, 'examples'))[0]), 'value')
    return { mediaType, schema: ownMember(content, 'schema') ?? {}, example }
  }

  #basePath(): string {
    if (this.isVersion2) return normalPath(trimmedAt(this.root, 'basePath'))
    const [server] = listAt(this.root, 'servers')
    if (!isJsonObject(server)) return ''
    const variables = objectAt(server, 'variables')
    const url = trimmedAt(server, 'url').replaceAll(/\{([^{}]*)\}/g, (_whole, name: string) =>
      trimmedAt(objectAt(variables, name), 'default'),
    )
    return normalPath(url.replace(/^([a-z][\w+.-]*:)?\/\/[^/]*/i, ''))
  }

  /** The request body of version 2 as version 3 has it: `in: body` is the body, and `in: formData` are the fields of one. */
  #requestOf2(operation: JsonObject, declared: readonly JsonObject[], parameters: readonly ApiParameter[]): JsonObject {
    const [consumed] = this.#typesOf2('consumes', operation)
    const body = declared.find((each) => trimmedAt(each, 'in') === 'body')
    if (body) {
      const content = { [consumed ?? 'application/json']: { schema: ownMember(body, 'schema') ?? {} } }
      return { required: ownMember(body, 'required') ?? false, content }
    }
    const fields = parameters.filter((each) => each.in === 'formData')
    if (fields.length === 0) return {}
    const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]))
    const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)
    const schema = { type: 'object', properties, required }
    return {
      required: required.length > 0,
      content: { [consumed ?? 'application/x-www-form-urlencoded']: { schema } },
    }
  }

  #responseOf2(operation: JsonObject, response: JsonObject): JsonObject {
    const schema = ownMember(response, 'schema')
    const produced = this.#typesOf2('produces', operation)
    const mediaType = produced.find(isJsonType) ?? produced[0] ?? 'application/json'
    const example = ownMember(objectAt(response, 'examples'), mediaType)
    return schema === undefined
      ? {}
      : { content: { [mediaType]: { schema, ...(example !== undefined && { example }) } } }
  }

  #typesOf2(key: 'consumes' | 'produces', operation: JsonObject): string[] {
    return [...listAt(operation, key), ...listAt(this.root, key)].filter((type) => typeof type === 'string')
  }
}

/** JSON, or any type: `application/json`, `application/hal+json`, a wildcard. */
export function isJsonType(mediaType: string): boolean {
  return /^(application\/([\w.-]+\+)?json|text\/json|\*\/\*|application\/\*)\b/i.test(mediaType) || mediaType === '*/*'
}

function normalPath(text: string): string {
  const path = text
    .replace(/[?#].*$/, '')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/$/, '')
  return path.startsWith('/') ? path : ''
}

export function trimmedAt(object: JsonObject, key: string): string {
  return textAt(object, key).trim()
}

/** The first type of a schema. */
export function typeOf(schema: JsonObject): string {
  const [type] = [ownMember(schema, 'type')].flat()
  return textOf(type)
}

export function isNumberType(type: JsonValue): boolean {
  return type === 'integer' || type === 'number'
}
